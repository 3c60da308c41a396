import type { AgentDefinition, RunContext } from '@perdure/core'
import { dynamicTool, Output, stepCountIs, type ToolSet, tool, wrapLanguageModel } from 'ai'
import { z } from 'zod'
import { chatAgent, durable, toolCallOf } from './index.ts'
import { type ScriptedAnswer, scriptedModel } from './testing.ts'

/** What happened outside of the log. */
export interface World {
  readonly asked: number[]
  /** The idempotency key of each execution of a tool. */
  readonly executed: string[]
}

export interface Program {
  readonly answers: readonly ScriptedAnswer[]
  readonly run: (given: Given) => AgentDefinition['run']
  readonly decision?: { readonly approved: boolean; readonly reason?: string }
  /** How often tools are executed. */
  readonly executions: number
  /** Whether a tool can be cut off while it executes, because commits of other calls come in between. */
  readonly canRepeat?: true
  /** What the model costs that a tool calls: a tool that is cut off and repeated pays it again. */
  readonly tokensInTool?: number
  /** The agents that the program calls. */
  readonly agents?: readonly AgentDefinition[]
}

export interface Given {
  readonly model: ReturnType<typeof scriptedModel>
  readonly tools: ToolSet
  readonly world: World
}

export const inputSchema = z.object({ of: z.string() })

export type CallOptions = Parameters<typeof toolCallOf>[0]

export const noteIn = ({ executed }: Pick<World, 'executed'>, options: CallOptions): void =>
  void executed.push(toolCallOf(options).idempotencyKey)

export function toolsOf({ executed }: World): ToolSet {
  const execute = ({ of }: { readonly of: string }, options: CallOptions) => {
    noteIn({ executed }, options)
    return `saw ${of}`
  }
  return {
    look: tool({ inputSchema, execute }),
    ask: tool({ inputSchema, needsApproval: true, execute }),
    found: dynamicTool({ inputSchema, execute: (input, options) => execute(input as { of: string }, options) }),
  }
}

export const look = (of = 'it') => ({ toolName: 'look', input: { of } })
export const ask = (of = 'it') => ({ toolName: 'ask', input: { of } })

export const streaming =
  (more: (given: Given) => object = () => ({})) =>
  ({ model, tools, world }: Given): AgentDefinition['run'] =>
  (_, ctx) =>
    durable(ctx).streamText({
      ...{ model, tools, prompt: 'Hi', stopWhen: stepCountIs(9) },
      ...more({ model, tools, world }),
    })

export const PROGRAMS: Readonly<Record<string, Program>> = {
  'a tool': { answers: [[{ text: 'Let me see. ' }, look()], 'It is red.'], run: streaming(), executions: 1 },
  'a tool twice': { answers: [look('a'), look('b'), 'Both.'], run: streaming(), executions: 2 },
  'an approval': {
    answers: [[{ text: 'May I? ' }, ask()], 'Thanks.'],
    run: streaming(),
    decision: { approved: true },
    executions: 1,
  },
  'a denial': {
    answers: [ask(), 'Never mind.'],
    run: streaming(),
    decision: { approved: false, reason: 'not today' },
    executions: 0,
  },
  'two approvals beside a tool': {
    answers: [[ask('a'), look('b'), ask('c')], 'All.'],
    run: streaming(),
    decision: { approved: true },
    executions: 3,
    canRepeat: true,
  },
  'a policy that denies': {
    answers: [look(), 'Too bad.'],
    run: ({ model, tools }) =>
      chatAgent({
        id: 'x',
        model,
        tools,
        toolApproval: { look: async () => ({ type: 'denied', reason: 'a rule' }) },
      } as never).run as AgentDefinition['run'],
    executions: 0,
  },
  'an object': {
    answers: [look(), '{"age":7}'],
    run: streaming(() => ({ output: Output.object({ schema: z.object({ age: z.number() }) }) })),
    executions: 1,
  },
  'reasoning, sources and files': {
    answers: [
      [
        { reasoning: 'I think so.' },
        { url: 'https://example.com', title: 'Example' },
        { mediaType: 'image/png', data: 'AAAA' },
        { text: 'Yes it is.' },
      ],
    ],
    run: streaming(),
    executions: 0,
  },
  'parallel tools': {
    answers: [[look('a'), look('b'), look('c')], 'Three.'],
    run: streaming(),
    executions: 3,
    canRepeat: true,
  },
  'a sub-agent': {
    answers: [{ toolName: 'research', input: { of: 'x' } }, 'Researched.'],
    run: ({ model, world }) =>
      streaming(() => ({
        model,
        tools: {
          research: tool({
            inputSchema,
            execute: async ({ of }, options) => {
              noteIn(world, options)
              const { text } = await durable().generateText({ model: scriptedModel([`about ${of}`]), prompt: of })
              return text
            },
          }),
        },
      }))({ model, world, tools: toolsOf(world) }),
    executions: 1,
    canRepeat: true,
    tokensInTool: 3,
  },
  'a dynamic tool and another model': {
    answers: [{ toolName: 'found', input: { of: 'x' } }, 'Found.'],
    run: streaming(({ model }) => ({ prepareStep: () => ({ model }) })),
    executions: 1,
  },
  'middleware, text that is passed on, and waits': {
    answers: [look(), 'It is red.'],
    run:
      ({ model, tools }) =>
      async (_: unknown, ctx: RunContext) => {
        const wrapped = wrapLanguageModel({
          model: model as never,
          middleware: { specificationVersion: 'v3' } as never,
        })
        const options = { model: wrapped, tools, prompt: 'Hi', stopWhen: stepCountIs(9) }
        const streamed = durable(ctx).streamText(options)
        for await (const text of streamed.textStream) await ctx.text(text)
        await ctx.step('note', () => 1)
        return { text: await streamed.text }
      },
    executions: 1,
  },
  'a loop without a stream': {
    answers: [look(), 'It is red.'],
    run:
      ({ model, tools }) =>
      async (_: unknown, ctx: RunContext) => {
        const ai = durable(ctx)
        const agent = new ai.ToolLoopAgent({ model, tools })
        return agent.generate({ prompt: 'Hi' })
      },
    executions: 1,
  },
}
