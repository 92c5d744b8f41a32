// SPDX-License-Identifier: Apache-2.0

// Package axe has axe-core, which finds violations of accessibility rules in a page: axe.min.js of the npm package axe-core, unchanged, under the
// Mozilla Public License 2.0 (LICENSE). It is a tool of the tests, and no part of the product.
package axe

import _ "embed" // for Source

// Source is axe-core. Evaluated in a page, it defines the object axe.
//
//go:embed axe.min.js
var Source string
