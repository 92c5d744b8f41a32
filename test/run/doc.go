// SPDX-License-Identifier: Apache-2.0

// Command run runs the tests of this repository for `make test` and its parts, also those of nested modules. It passes packages that start no
// server to `go test -json`, and runs those that do beside them, as many at a time as keep the cores busy. The latter are linked into one
// program, bin/tests/servers.test, and each of them runs in a process of its own, in its directory, as `go test` would run it. They take each
// other's control planes from another process of the shared program (test/env/planes). The shared program, and those that the tests start, are
// built meanwhile.
//
// It prints the closing line of `go test` for each package that has ended, and a line with the progress below it. The first package that
// fails ends all others: the command prints the output of the failed tests, the command that runs the package alone, and the path of its
// whole output. With -keep-going the others go on, and all that failed are listed at the end; a program that cannot be built ends the run all
// the same. Each package has its output in bin/test-logs, and each build of a program too.
//
// Tests see an environment that is the same on every machine: what is asked for, what go needs, and nothing else that a person or a machine has set.
//
//	go run ./test/run                       # everything
//	go run ./test/run -only federation      # one subject
//	go run ./test/run -suites e2e,consumers # some suites
//
// The exit code is 0 if all packages passed, 1 if one failed or the run was interrupted, and 2 for wrong flags. No process that a test or a
// build has started is left running.
package main
