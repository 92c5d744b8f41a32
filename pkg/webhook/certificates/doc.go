// Package certificates says which certificates the webhook serves with and which certificate authorities its callers trust, from one
// state to the next: Schedule.Next of what is held and the time.
//
// It promises, as long as nobody edits what is held: at every moment the certificate is valid, has the host names, and is signed by an
// authority of the bundle; a new authority has been in the bundle for a while (Schedule.Trust) before anything that only it has signed is
// served, so that every API server trusts it by then; an authority stays in the bundle until it expires. Whatever is missing, expired or
// cannot be read is made anew at once. A state in which nothing is due is returned as it is.
//
// It reads no clock and writes nothing; only keys and serial numbers are random.
package certificates
