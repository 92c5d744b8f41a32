// SPDX-License-Identifier: Apache-2.0

// Package privilege has the end-to-end tests of rights: the controllers of every system work with what their roles grant, and use all of it.
package privilege
