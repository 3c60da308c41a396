import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

/** A well-behaved server of the official package, over stdio. */
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: String(value) }] })
const tool = (name: string) => ({ name, description: `Does ${name}.`, inputSchema: { type: 'object' as const } })
const names = ['whoami', 'echo', 'add', 'fail', 'large', 'learn']

const server = new Server({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
server.setRequestHandler('tools/list', async () => ({ tools: names.map(tool) }))
server.setRequestHandler('tools/call', async ({ params }) => {
  const given = params.arguments ?? {}
  switch (params.name) {
    case 'echo':
      return { ...text(given.text), structuredContent: { heard: given.text } }
    case 'add':
      return text(Number(given.a) + Number(given.b))
    case 'fail':
      return { ...text('it did not work'), isError: true }
    case 'large':
      return text('x'.repeat(Number(given.bytes)))
    case 'learn':
      names.push('learned')
      await server.sendToolListChanged()
      return text('ok')
    case 'whoami':
      return text(JSON.stringify({ pid: process.pid, cwd: process.cwd(), env: process.env, meta: params._meta }))
    default:
      throw new Error(`no tool ${params.name}`)
  }
})
await server.connect(new StdioServerTransport())
