// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"strings"
	"testing"
)

// An event has room for the lost and the gained clusters and their numbers, whatever the length of names and reasons.
func TestNamesWithReasonsAreShort(t *testing.T) {
	var clusters []string
	for n := range 30 {
		clusters = append(clusters, fmt.Sprintf("%s%02d", strings.Repeat("x", 61), n))
	}
	reason := func(string) string { return strings.Repeat("long ", 100) }
	if text := NameReasons(clusters, reason); len(text) > 450+63+200+30 || !strings.HasSuffix(text, " more") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}
