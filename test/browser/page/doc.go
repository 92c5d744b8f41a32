// SPDX-License-Identifier: Apache-2.0

// Package page opens pages in a real browser as a person does: with a mouse or the keyboard, on a narrow screen, in a dark or light color scheme,
// without JavaScript. It waits for conditions and never for a time.
//
// A page fails its test for an uncaught exception, for an error in the console, which a violation of the Content-Security-Policy is too, and for
// a dialog that opens, unless the test expects them.
package page
