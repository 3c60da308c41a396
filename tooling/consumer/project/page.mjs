// A web page; a bundler turns it into browser code.
import { createClient } from '@perdure/client'

const parameters = new URLSearchParams(location.hash.slice(1))
const client = createClient({ baseUrl: parameters.get('api'), token: parameters.get('token') })

const { subject } = await client.agents.stream('echo', { input: { text: 'from a page' } })
const types = []
for await (const item of client.subscribe(subject)) types.push(item.type === 'event' ? item.event.type : item.type)
client.close()
document.title = types.join(' ')
