// Package expect holds the checks that the tests of the commands share. Only tests import it.
package expect
