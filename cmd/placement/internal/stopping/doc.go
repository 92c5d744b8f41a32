// SPDX-License-Identifier: Apache-2.0

// Package stopping distinguishes errors that the shutdown of a process causes from other errors.
//
// A process that stops cancels the context of all work, so requests, watches and waits for caches fail together, without a problem of the
// hub. Logger logs these errors as information at verbosity 4, and Caused detects them in the error of a manager. Any other error stays an
// error, also during the shutdown.
package stopping
