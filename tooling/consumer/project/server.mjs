// A server inside the consumer's own program, with the default adapters.
import { createServer } from '@perdure/server-app'

const server = await createServer({
  config: { auth: { kind: 'none' }, server: { port: 0 }, storage: { path: './server/data.db' } },
})
server.agents.register({
  id: 'greet',
  description: 'Greets by name.',
  agent: { id: 'greet', run: async ({ name }) => ({ greeting: `Hello ${name}` }) },
})

const { host, port, basePath } = await server.start()
const answer = await fetch(`http://${host}:${port}${basePath}/agents/greet/run`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
  body: JSON.stringify({ input: { name: 'Ann' } }),
})
console.log(JSON.stringify(await answer.json()))
await server.stop()
