// SPDX-License-Identifier: Apache-2.0

// Package expect holds the checks that the tests of the commands share. Only tests import it.
package expect
