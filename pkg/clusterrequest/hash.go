// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// hash returns the first characters of a hash of a text: lower-case letters and the digits 2 to 7. At most 51 characters.
func hash(text string, length int) string {
	sum := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:length]
}
