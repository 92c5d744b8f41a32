// SPDX-License-Identifier: Apache-2.0

package toy

// Greeting returns the message for a Widget.
func Greeting(word, name string) string { return word + ", " + name }
