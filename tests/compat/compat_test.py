#!/usr/bin/env python3
"""Tests of run.py and its checks, with programs of their own and g++ in the place of nunacc."""

import contextlib
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402

SUITE = """
folder = "small"
title = "Small"
source = "nowhere"
[defaults]
defines = ["TIMES=2"]
timeout = 2
[[program]]
name = "right"
sources = ["right.cpp"]
args = ["4"]
pass = "^8$"
prepare = [["cp", "right.cpp", "copied"]]
check = [["test", "-e", "copied"]]
[[program]]
name = "compared"
sources = ["right.cpp"]
args = ["4"]
reference = { flags = ["-DTIMES=3"], sources = ["right.cpp"], args = ["4"] }
check = [["{python}", "{checks}/compare.py", "stdout.txt", "../reference/stdout.txt"]]
[[program]]
name = "wrong"
sources = ["right.cpp"]
args = ["5"]
pass = "^8$"
[[program]]
name = "bad"
sources = ["bad.cpp"]
[[program]]
name = "unlinked"
sources = ["unlinked.cpp"]
[[program]]
name = "crash"
sources = ["crash.cpp"]
[[program]]
name = "slow"
sources = ["slow.cpp"]
[[program]]
name = "gone"
sources = ["gone.cpp"]
[[program]]
name = "no"
unsupported = "needs a window"
"""

SOURCES = {
    "right.cpp": "#include <cstdio>\n#include <cstdlib>\nint main(int, char** v) { std::printf(\"%d\\n\", TIMES * std::atoi(v[1])); }\n",
    "bad.cpp": "int main() { return none; }\n",
    "unlinked.cpp": "int missing_one();\nint main() { return missing_one(); }\n",
    "crash.cpp": "#include <cstdlib>\nint main() { std::abort(); }\n",
    "slow.cpp": "int main() { for (volatile int i = 0;; i = i + 1) {} }\n",
}


class Runs(unittest.TestCase):
    def setUp(self):
        self.corpus = pathlib.Path(tempfile.mkdtemp(prefix="nuna-compat-test-"))
        self.addCleanup(shutil.rmtree, self.corpus)
        (self.corpus / "small").mkdir()
        (self.corpus / "suites").mkdir()
        (self.corpus / "suites" / "small.toml").write_text(SUITE)
        for name, text in SOURCES.items():
            (self.corpus / "small" / name).write_text(text)

    def call(self, *words):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                status = run.main(["--nunacc", "g++", "--corpus", str(self.corpus), *map(str, words)])
            except SystemExit as end:
                status = end.code
        return status, out.getvalue()

    @unittest.skipUnless(shutil.which("g++"), "no g++")
    def test_tells_each_outcome_and_its_reason(self):
        page = self.corpus / "page.md"
        page.write_text("<!-- suite other -->\nkept\n<!-- end other -->\n")
        status, _ = self.call("--write", page, "--report", self.corpus / "report.json", "--jobs", "2")
        self.assertEqual(status, 1)
        text = page.read_text()
        for row in ("| right | pass |  |", "| compared | wrong result | 1 of 1 numbers differ; number 0: 8, not 12 |",
                    "| wrong | wrong result | its PASS is not there |", "| crash | crash | SIGABRT",
                    "| slow | timeout | ran longer than 2 s |", "| gone | sources absent | no gone.cpp",
                    "| no | not supported | needs a window |", "| bad | compile error | bad.cpp:1:",
                    "| unlinked | missing function | undefined reference to `missing_one", "**1 of 9 pass**", "\nkept\n"):
            self.assertIn(row, text)
        self.assertNotIn(str(self.corpus), text)

    @unittest.skipUnless(shutil.which("g++"), "no g++")
    def test_compiles_only_what_is_asked_for(self):
        status, text = self.call("--only", "right|unlinked", "--compile-only")
        self.assertEqual(status, 0)
        self.assertIn("small: 2 of 2", text)

    def test_refuses_a_bad_call(self):
        for words in (["--suite", "none"], ["--only", "("], ["--only", "nothing"], ["--jobs", "0"], ["--nunacc", "/none"],
                      ["--only", "right", "--write", "x"]):
            self.assertEqual(self.call(*words)[0], 2, words)

    def test_refuses_a_bad_description(self):
        for text in ("[[program]]\nname = 'a'\n", "[[program]]\nname = 'a'\nsources = 'x'\n", "[[program]]\nsource = []\n",
                     "[[program]]\nname = 'a'\nsources = ['x']\n" * 2, "[[",
                     "[[program]]\nname = 'a'\nsources = ['x']\nfail = 'a(?i)'\n"):
            (self.corpus / "suites" / "small.toml").write_text(text)
            self.assertEqual(self.call("--list")[0], 2, text)


class Checks(unittest.TestCase):
    def check(self, script, *words):
        return subprocess.run([sys.executable, HERE / "checks" / script, *map(str, words)], stdout=subprocess.PIPE, text=True)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nuna-compat-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def test_compare_allows_for_rounding_only(self):
        ours = self.write("ours", "time 9\nvalues: 1.0001 -2e3 nan\n")
        for theirs, same in (("values: 1.0 -2000 nan", False), ("values: 1.0 -2000 inf", False), ("values: 1 2 3", False)):
            found = self.check("compare.py", ours, self.write("theirs", theirs), "--skip", "time", "--relative", "1e-3")
            self.assertEqual(found.returncode == 0, same, theirs)
        numbers = self.write("ours", "time 9\nvalues: 1.0001 -2e3\n")
        for theirs, same in (("1.0 -2000", True), ("1.1 -2000", False), ("1.0", False), ("", False)):
            found = self.check("compare.py", numbers, self.write("theirs", theirs), "--only", "values|^[01]", "--relative", "1e-3")
            self.assertEqual(found.returncode == 0, same, theirs)

    def test_breadth_first_search(self):
        graph = self.write("graph", "3\n0 1\n1 1\n2 0\n0\n2\n1 1\n2 1\n")
        right = self.write("right", "0) cost:0\n1) cost:1\n2) cost:2\n")
        wrong = self.write("wrong", "0) cost:0\n1) cost:1\n2) cost:1\n")
        self.assertEqual(self.check("rodinia_results.py", "bfs", graph, right).returncode, 0)
        self.assertEqual(self.check("rodinia_results.py", "bfs", graph, wrong).returncode, 1)

    def test_gaussian_elimination(self):
        matrix = self.write("matrix", "2\n2 1\n1 3\n3 5\n")
        for text, right in (("The final solution is:\n0.80 1.40\n", True), ("The final solution is:\n9.80 1.40\n", False),
                            ("", False)):
            found = self.check("rodinia_results.py", "gaussian", matrix, self.write("out", text))
            self.assertEqual(found.returncode == 0, right, text)

    def test_the_nearest_neighbours(self):
        records = self.folder / "records"
        subprocess.run([sys.executable, HERE / "checks" / "rodinia_inputs.py", "records", records, self.folder / "list"], check=True)
        lines = records.read_text().splitlines()
        self.assertTrue(all(len(line) == 48 for line in lines))
        distances = sorted(((float(l[28:33]) - 30) ** 2 + (float(l[33:38]) - 90) ** 2) ** 0.5 for l in lines)[:2]
        out = self.write("out", "".join(f"x --> Distance={distance:.6f}\n" for distance in distances))
        self.assertEqual(self.check("rodinia_results.py", "nn", records, 2, 30, 90, out).returncode, 0)
        self.assertEqual(self.check("rodinia_results.py", "nn", records, 2, 31, 90, out).returncode, 1)


if __name__ == "__main__":
    unittest.main()
