// SPDX-License-Identifier: Apache-2.0

// Command placement is the placement hub in one binary.
//
// Every subcommand is a constructor newXCommand in a file of its own, added in newRootCommand: its help and its flags. What a command of more
// than one file does is in a package of internal. What they share:
//
//   - exit code 0 for success and for a clean stop (SIGTERM, SIGINT, a changed --terminate-on-files file), 2 for a command line
//     that cannot be understood, 1 for everything else, and 1 at once on a second signal; `placement diff` has the codes of
//     kubectl diff instead: 1 for a difference, 2 for any error, and so has `placement simulate --exit-code`;
//   - errors go to stderr, say what is wrong and what to do next, and never print the whole usage page;
//   - a subcommand must not define PersistentPreRun(E): the hook of the root command distinguishes usage errors from failures.
//
// Started as kubectl-placement it is a plugin of kubectl and calls itself so; as kubectl_complete-placement it completes that plugin.
//
// The commands that do most have these packages: explaining, simulating, casetests (`placement test`), deliveries (`placement federated`), userpages
// (`placement dashboard`), localhub (`placement run`) and hubprocess (`placement controller`). `placement debug` is `placement controller` without
// controllers: it shares all of that but the election. hubprocess uses endpoint, election, preflight and filewatch. localhub uses embedded and
// live. The commands that read a hub use hubflags, objectnames, follow and terminal.
//
// `placement controller` keeps the flags, the defaults, the lease and the endpoints of the upstream command of that name, so that
// swapping the image is enough. Three things differ, on purpose: client-side rate limiting is off unless asked for, a released lease
// is taken within about two seconds (see internal/election), and serving certificates are reloaded instead of ending the process.
package main
