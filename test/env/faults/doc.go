// Package faults puts a proxy between a client and a real API server, and breaks chosen requests: it refuses them with a status, lets
// them hang, drops the connection, has them carried out and loses the answer, or holds the answer back. It can also refuse every
// connection for a while.
//
// The proxy listens on loopback with a certificate of its own and passes the client's bearer token on. It counts every request,
// broken or not, which shows whether a client retries too eagerly. It never changes the body of a request or of an answer.
package faults
