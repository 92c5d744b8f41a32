// SPDX-License-Identifier: Apache-2.0

package access

import "errors"

// RetryAfter is the header Retry-After of a response because of ErrTooManyTokens, in seconds.
const RetryAfter = "2"

// ErrTooManyTokens is about a token that the hub has not seen, while it asks the API server about many others.
var ErrTooManyTokens = errors.New("the hub is asked with many tokens that it does not know; try again in some seconds")
