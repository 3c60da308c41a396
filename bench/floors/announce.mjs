/** Prints the line that tells the bench the port. */
export function announce(server) {
  const { port } = server.address()
  console.log(`listening on http://127.0.0.1:${port}`)
}
