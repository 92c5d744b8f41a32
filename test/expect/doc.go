// SPDX-License-Identifier: Apache-2.0

// Package expect holds the checks that the tests of the commands, and of the answers of the hub, share. Only tests import it.
package expect
