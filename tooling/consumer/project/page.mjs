// A web page; a bundler turns it into browser code.
import { createClient } from '@perdure/client'

const parameters = new URLSearchParams(location.hash.slice(1))
const client = createClient({ baseUrl: parameters.get('api'), token: parameters.get('token') })

const types = []
for await (const { type } of client.agents.stream('echo', { input: { text: 'from a page' } })) types.push(type)
client.close()
document.title = types.join(' ')
