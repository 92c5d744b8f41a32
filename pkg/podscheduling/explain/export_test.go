// SPDX-License-Identifier: Apache-2.0

package explain

// With adds objects to others as package explain does, which imports this package, so that an external test sets it.
var With func(before, change *Objects) (*Objects, []Applied)
