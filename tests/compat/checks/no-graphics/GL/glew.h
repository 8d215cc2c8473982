#pragma once
// Empty: for programs that include OpenGL and use nothing of it.
