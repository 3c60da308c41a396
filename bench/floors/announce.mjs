/** Prints the line from which the bench reads the port. */
export function announce(server) {
  const { port } = server.address()
  console.log(`listening on http://127.0.0.1:${port}`)
}
