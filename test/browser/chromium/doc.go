// SPDX-License-Identifier: Apache-2.0

// Package chromium finds a browser for tests: the one that Fetch has unpacked into bin/browser of the checkout, unless $CHROMIUM names another one.
// Chromium and Google Chrome of this machine count only where $CHROMIUM asks for them, so that tests do not depend on what a machine has.
//
// Fetch downloads Debian's chromium-headless-shell with the libraries that this machine lacks. apt verifies what it downloads. Nothing is
// installed, and no rights of root are needed: the packages are unpacked, and a script in bin/browser starts the browser with them. Tests call
// Find alone, which downloads nothing.
package chromium
