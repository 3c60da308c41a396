import { dynamicTool, jsonSchema, Output, smoothStream, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import {
  type CallOptions,
  inputSchema,
  look,
  noteIn,
  type Program,
  streaming,
  type World,
} from './crash-programs.fixture.ts'
import { durable } from './index.ts'

/** A tool as the MCP client of the SDK makes it from what a server lists. */
const mcpTool = (world: World) =>
  dynamicTool({
    description: 'Searches the catalog',
    inputSchema: jsonSchema({ type: 'object', properties: { of: { type: 'string' } }, additionalProperties: false }),
    execute: async (input: unknown, options: CallOptions) => {
      noteIn(world, options)
      return { content: [{ type: 'text', text: `found ${(input as { readonly of: string }).of}` }], isError: false }
    },
    toModelOutput: ({ output }: { readonly output: unknown }) => ({
      type: 'content',
      value: (output as { readonly content: readonly { readonly text: string }[] }).content.map(({ text }) => ({
        ...{ type: 'text' as const, text },
      })),
    }),
  } as never)

const EMBEDDING = {
  ...{ specificationVersion: 'v3', provider: 'scripted', modelId: 'e-1', maxEmbeddingsPerCall: 8 },
  supportsParallelCalls: false,
  doEmbed: async ({ values }: { readonly values: readonly string[] }) => ({
    ...{ embeddings: values.map(({ length }) => [length]), usage: { tokens: 1 }, warnings: [] },
  }),
}

/** Programs in the style of the documentation of the SDK: the rest of its kinds. */
export const SDK_PROGRAMS: Readonly<Record<string, Program>> = {
  'a stream that is smoothed': {
    answers: [[{ text: 'Let me look at it. ' }, look()], 'It is red and round.'],
    run: streaming(() => ({ experimental_transform: smoothStream({ delayInMs: null }) })),
    executions: 1,
  },
  'a tool of an MCP server': {
    answers: [{ toolName: 'search', input: { of: 'scarves' } }, 'There are scarves.'],
    run: streaming(({ world }) => ({ tools: { search: mcpTool(world) } })),
    executions: 1,
  },
  'an object whose parts are read while it comes': {
    answers: [look(), '{"name":"Ann","age":7}'],
    run:
      ({ model, tools }) =>
      async (_, ctx) => {
        const schema = z.object({ name: z.string(), age: z.number() })
        const options = { model, tools, prompt: 'Hi', stopWhen: stepCountIs(9), output: Output.object({ schema }) }
        const streamed = durable(ctx).streamText(options)
        let last: unknown
        for await (const partial of streamed.partialOutputStream) last = partial
        return { last, whole: await streamed.output }
      },
    executions: 1,
  },
  'an array of objects': {
    answers: ['{"elements":[{"of":"a"},{"of":"b"}]}'],
    run: streaming(() => ({ output: Output.array({ element: inputSchema }) })),
    executions: 0,
  },
  'an embedding before an answer': {
    answers: [look(), 'It is near.'],
    run: (given) => async (input: never, ctx) => {
      const { embedding } = await durable(ctx).embed({ model: EMBEDDING as never, value: 'red' })
      return (streaming(() => ({ prompt: `near ${embedding}` }))(given) as (...args: unknown[]) => unknown)(input, ctx)
    },
    executions: 1,
  },
  'a file and a source between the calls of tools': {
    answers: [
      [{ url: 'https://example.com/a', title: 'A' }, look('a')],
      [{ mediaType: 'image/png', data: 'AAAA' }, look('b')],
      [{ reasoning: 'So both.' }, { text: 'Both.' }],
    ],
    run: streaming(),
    executions: 2,
  },
  'a tool that is only active in the second step': {
    answers: [[{ text: 'First. ' }, look('a')], { toolName: 'note', input: { of: 'b' } }, 'Noted.'],
    run: streaming(({ tools, world }) => ({
      tools: {
        ...tools,
        note: tool({
          inputSchema,
          execute: (_, options) => {
            noteIn(world, options)
            return 'noted'
          },
        }),
      },
      prepareStep: ({ stepNumber }: { readonly stepNumber: number }) => ({
        activeTools: stepNumber === 0 ? ['look'] : ['note'],
      }),
    })),
    executions: 2,
  },
}
