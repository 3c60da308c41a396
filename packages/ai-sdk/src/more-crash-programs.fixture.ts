import { type AgentDefinition, defineAgent, type RunContext } from '@perdure/core'
import { extractReasoningMiddleware, hasToolCall, Output, stepCountIs, tool, wrapLanguageModel } from 'ai'
import { z } from 'zod'
import {
  ask,
  type CallOptions,
  type Given,
  inputSchema,
  look,
  noteIn,
  type Program,
  streaming,
} from './crash-programs.fixture.ts'
import { chatAgent, durable } from './index.ts'
import { scriptedModel } from './testing.ts'

/** A run of a chat agent with these settings. */
const chatting =
  (more: (given: Given) => object) =>
  (given: Given): AgentDefinition['run'] => {
    const { model, tools } = given
    return chatAgent({ id: 'x', model, tools, ...more(given) } as never).run as AgentDefinition['run']
  }

const child = defineAgent({
  id: 'child',
  input: z.object({ of: z.string() }),
  run: ({ of }, ctx) => durable(ctx).generateText({ model: scriptedModel([`about ${of}`]), prompt: of }),
})

/** Programs in the style of the documentation of the SDK. */
export const MORE_PROGRAMS: Readonly<Record<string, Program>> = {
  'a tool that fails': {
    answers: [{ toolName: 'fail', input: { of: 'it' } }, 'It is broken.'],
    run: streaming(({ world }) => ({
      tools: {
        fail: tool({
          inputSchema,
          execute: (_, options): string => {
            noteIn(world, options)
            throw new Error('broken')
          },
        }),
      },
    })),
    executions: 1,
  },
  'a policy that asks a person, who approves': {
    answers: [look(), 'It is red.'],
    run: chatting(() => ({ toolApproval: { look: async () => 'user-approval' } })),
    decision: { approved: true },
    executions: 1,
  },
  'a policy that asks a person, who denies': {
    answers: [look(), 'Never mind.'],
    run: chatting(() => ({ toolApproval: () => ({ type: 'user-approval', reason: 'it is dear' }) })),
    decision: { approved: false, reason: 'too dear' },
    executions: 0,
  },
  'a loop that stops after a tool': {
    answers: [[{ text: 'I look. ' }, look()]],
    run: streaming(() => ({ stopWhen: hasToolCall('look') })),
    executions: 1,
  },
  'steps with other tools and messages': {
    answers: [look(), 'It is red.'],
    run: streaming(() => ({
      prepareStep: ({ stepNumber, messages }: { readonly stepNumber: number; readonly messages: object[] }) =>
        stepNumber === 0 ? { toolChoice: { type: 'tool', toolName: 'look' } } : { activeTools: [], messages },
    })),
    executions: 1,
  },
  'a call that is prepared': {
    answers: [look(), 'It is red.'],
    run: chatting(({ model }) => ({ prepareCall: (call: object) => ({ ...call, model, instructions: 'Be brief.' }) })),
    executions: 1,
  },
  'one of several answers': {
    answers: ['{"result":"sunny"}'],
    run: streaming(() => ({ output: Output.choice({ options: ['sunny', 'rainy'] }) })),
    executions: 0,
  },
  'a tool with a context': {
    answers: [{ toolName: 'greet', input: { of: 'it' } }, 'Hello.'],
    run: streaming(({ world }) => ({
      tools: {
        greet: tool({
          inputSchema,
          contextSchema: z.object({ name: z.string() }),
          execute: (_: unknown, options: CallOptions) => {
            noteIn(world, options)
            const { context, experimental_context } = options as CallOptions &
              Readonly<Record<string, { readonly name: string }>>
            return `Hello ${(context ?? experimental_context)?.name}`
          },
        } as never),
      },
      ...{ toolsContext: { greet: { name: 'Ann' } }, experimental_context: { name: 'Ann' } },
    })),
    executions: 1,
  },
  'a tool with preliminary results': {
    answers: [{ toolName: 'count', input: { of: 'it' } }, 'Two.'],
    run: streaming(({ world }) => ({
      tools: {
        count: tool({
          inputSchema,
          async *execute(_, options) {
            noteIn(world, options)
            yield 'one'
            yield 'two'
          },
        }),
      },
    })),
    executions: 1,
    canRepeat: true,
  },
  'a tool that tells the model something else': {
    answers: [{ toolName: 'paint', input: { of: 'it' } }, 'Painted.'],
    run: streaming(({ world }) => ({
      tools: {
        paint: tool({
          inputSchema,
          execute: (_, options) => {
            noteIn(world, options)
            return { pixels: [1, 2, 3] }
          },
          toModelOutput: () => ({ type: 'text', value: 'a picture' }),
        }),
      },
    })),
    executions: 1,
  },
  'a call whose input is invalid, beside an approval': {
    answers: [[{ toolName: 'look', input: { of: 1 } }, ask()], 'Only one.'],
    run: streaming(),
    decision: { approved: true },
    executions: 1,
  },
  'a call that is repaired': {
    answers: [{ toolName: 'look', input: { of: 1 } }, 'It is red.'],
    run: streaming(() => ({
      experimental_repairToolCall: async ({ toolCall }: { readonly toolCall: object }) => ({
        ...{ ...toolCall, input: '{"of":"it"}' },
      }),
    })),
    executions: 1,
  },
  'a sub-agent as a child run, and reasoning in tags': {
    answers: ['<think>I ask.</think>It is known.'],
    run:
      ({ model }) =>
      async (_: unknown, ctx: RunContext) => {
        const { text } = await ctx.invoke(child, { of: 'x' })
        const middleware = extractReasoningMiddleware({ tagName: 'think' })
        const wrapped = wrapLanguageModel({ model: model as never, middleware: middleware as never })
        return durable(ctx).streamText({ model: wrapped, prompt: text, stopWhen: stepCountIs(2) })
      },
    agents: [child as unknown as AgentDefinition],
    executions: 0,
  },
}
