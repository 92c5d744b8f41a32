// Package watchhealth tells how long the watches of the informers of a process have been broken, so that a standby whose view grows old is
// not ready to lead.
//
// A watch ends every few minutes and is opened again at once, which is no break. A watch that ends and cannot be opened again for longer
// than Tolerated makes Check fail. What is wrong with the connection is found out by client-go: a connection that does not
// answer is closed after 45 seconds.
package watchhealth
