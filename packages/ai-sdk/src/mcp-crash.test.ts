import { createMCPClient, type MCPClient } from '@ai-sdk/mcp'
import { stepCountIs, ToolLoopAgent, type ToolSet } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSameAfterCrash } from './crash-check.fixture.ts'
import type { Program, World } from './crash-programs.fixture.ts'
import { agentOf, durable } from './index.ts'
import { type CatalogServer, startCatalogServer } from './mcp-server.fixture.ts'

let server: CatalogServer
const clients: MCPClient[] = []
/** What the model was told that the tool returned. */
const told: unknown[] = []

beforeAll(async () => {
  server = await startCatalogServer()
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await server.close()
})

async function toolsOfServer({ executed }: World): Promise<ToolSet> {
  const url = server.urlFor((of) => void executed.push(`${of} ${executed.length}`))
  const client = await createMCPClient({ transport: { type: 'http', url } })
  clients.push(client)
  return (await client.tools()) as ToolSet
}

const answers: Program['answers'] = [
  [{ text: 'Let me search. ' }, { toolName: 'search', input: { of: 'scarves' } }],
  { toolName: 'search', input: { of: 'hats' } },
  'There are both.',
]
const stopWhen = stepCountIs(9)

const PROGRAMS: Readonly<Record<string, Program>> = {
  'streamText with the tools of an MCP server': {
    answers,
    run:
      ({ model, world }) =>
      async (_, ctx) => {
        const ai = durable(ctx)
        const onStepFinish = ({ toolResults }: { toolResults: readonly { readonly output: unknown }[] }) =>
          void told.push(...toolResults.map(({ output }) => output))
        return ai.streamText({ model, tools: await toolsOfServer(world), prompt: 'Hi', stopWhen, onStepFinish })
      },
    executions: 2,
  },
  'an agent whose tools come from an MCP server': {
    answers,
    run:
      ({ model, world }) =>
      async (input, ctx) => {
        const agent = new ToolLoopAgent({ id: 'x', model, tools: await toolsOfServer(world), stopWhen })
        return agentOf(agent).run(input as never, ctx)
      },
    executions: 2,
  },
}

describe.each(Object.entries(PROGRAMS).map(([name, program], index) => ({ name, program, index })))(
  '$name',
  ({ program, index }) => {
    it('is the same after a crash', () => expectSameAfterCrash(program, index))
  },
)

it('gives the code what the server answers', () => {
  expect(told).toContainEqual(expect.objectContaining({ content: [{ type: 'text', text: 'found hats' }] }))
})
