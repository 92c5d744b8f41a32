// SPDX-License-Identifier: Apache-2.0

// Package property checks properties with pgregory.net/rapid within a budget.
//
// Check draws half of its inputs from a fixed seed, so that a change is tested with the inputs that its parent was tested with, and half from
// a fresh seed, so that every run tests inputs that no run before has tested. It logs the fresh seed with the command that draws the same
// inputs again. A property is checked 100 times; CheckTimes is for properties that are expensive, which are checked less often. The number of
// checks depends on neither the machine nor the time.
//
// PROPERTY_FACTOR=20 multiplies the checks from the fresh seed, as `make soak` does. The flags -rapid.seed and -rapid.checks, and RAPID_SEED
// and RAPID_CHECKS, win: there is one run then, with the given seed and the given number of checks.
//
// Random is for tests that cannot be checked more than once, because they start servers.
package property
