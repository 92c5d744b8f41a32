// Command run runs the tests of this repository for `make test` and its parts. It passes packages to `go test -json`, first those that start
// no server, then those that do, and builds the programs that the latter start beside the former.
//
// It prints the closing line of `go test` for each package that has ended, and a line with the progress below it. The first package that
// fails ends all others: the command prints the output of the failed tests, the command that runs the package alone, and the path of its
// whole output. Each package has its output in bin/test-logs, and each build of a program too.
//
//	go run ./test/run                       # everything
//	go run ./test/run -only federation      # one subject
//	go run ./test/run -suites e2e,consumers # some suites
//
// The exit code is 0 if all packages passed, 1 if one failed or the run was interrupted, and 2 for wrong flags. No process that a test or a
// build has started is left running.
package main
