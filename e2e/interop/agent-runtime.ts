import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type AbstractAgent, RunAgentInputSchema } from 'ag-ui-client-0'

/** The part of an agent that the runtime of CopilotKit uses. */
interface RegisteredAgent {
  clone(): Pick<AbstractAgent, 'setMessages' | 'setState' | 'runAgent'> & { threadId: string }
}

/**
 * Serves an agent to a front end as the runtime of CopilotKit 1.75 does: for each request, a copy of the registered agent
 * takes the messages and the thread of the request, and the events of its run are the response.
 */
export async function openRuntime(registered: unknown) {
  const server = createServer(async (request, response) => {
    const input = RunAgentInputSchema.parse(await json(request))
    const agent = (registered as RegisteredAgent).clone()
    agent.setMessages(input.messages)
    agent.setState(input.state)
    agent.threadId = input.threadId
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await agent.runAgent(input, { onEvent: ({ event }) => void response.write(`data: ${JSON.stringify(event)}\n\n`) })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
