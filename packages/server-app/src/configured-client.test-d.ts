import { createClient, type PerdureClient } from '@perdure/client'
import { type } from 'arktype'
import * as v from 'valibot'
import { expectTypeOf } from 'vitest'
import * as z from 'zod'
import { defineAgent, defineConfig, defineWorkflow, type PerdureConfig, type PerdureServer } from './index.ts'

const Mail = v.object({ to: v.string(), copies: v.optional(v.number(), 1) })

const mail = defineAgent({
  id: 'mail',
  description: 'Sends a mail.',
  input: Mail,
  output: v.pipe(
    v.object({ text: v.string() }),
    v.transform(({ text }) => text.length),
  ),
  run: async ({ to }) => ({ text: to }),
})
const nightly = defineWorkflow({
  id: 'nightly',
  description: 'Runs at night.',
  input: z.object({ topic: z.string(), on: z.date().optional() }),
  output: z.object({ at: z.date(), tags: z.array(z.string()) }),
  run: async ({ topic }) => ({ at: new Date(0), tags: [topic] }),
})
const config = defineConfig({
  auth: { pepperRef: 'env:PERDURE_PEPPER' },
  agents: [
    mail,
    {
      id: 'count',
      description: 'Counts.',
      input: type({ upTo: 'number', 'from?': 'number' }),
      output: type({ total: 'number' }),
      agent: {
        async *run({ upTo, from = 0 }) {
          yield { type: 'count.step', payload: upTo }
          return { total: upTo - from }
        },
      },
    },
    { id: 'plain', description: 'Takes anything.', agent: { run: async (input) => input } },
  ],
  workflows: [nightly],
})
expectTypeOf(config).toExtend<PerdureConfig>()

type Client = PerdureClient<typeof config>
declare const client: Client
export const created: Client = createClient<typeof config>({ baseUrl: '/v1' })

/** The input of a schema, and the result that it returns. */
export async function calls() {
  const sent = await client.agents.run('mail', { input: { to: 'a@example.com' } })
  if (sent.status === 'completed') expectTypeOf(sent.result).toEqualTypeOf<number>()
  else expectTypeOf(sent.result).toEqualTypeOf<undefined>()
  expectTypeOf(sent.runId).toEqualTypeOf<string>()

  const counted = await client.agents.start('count', { input: { upTo: 3 }, metadata: { a: 'b' } })
  if (counted.status === 'completed') expectTypeOf(counted.result).toEqualTypeOf<{ total: number }>()
  for await (const item of client.subscribe(counted.subject)) expectTypeOf(item.type).toEqualTypeOf<'event' | 'gap'>()

  const counting = client.agents.stream('count', { input: { upTo: 3 } })
  for await (const event of counting) expectTypeOf(event.type).toBeString()
  const started = await counting.started
  if (started.status === 'completed') expectTypeOf(started.result).toEqualTypeOf<{ total: number }>()
  for await (const event of client.workflows.stream('nightly', { input: { topic: 'a' } }))
    expectTypeOf(event).not.toBeAny()

  const plain = await client.agents.run('plain')
  expectTypeOf(plain.result).toBeUnknown()
  await client.agents.run('plain', { input: [1] }, { prefer: 'wait=3' })

  await client.agents.run('mail', { input: { to: 'a@example.com' }, priority: 5, delayMs: 1_000 })
  await client.agents.start('mail', { input: { to: 'a@example.com' }, startAt: '2027-01-31T09:00:00Z' })
  await client.workflows.execute('nightly', { input: { topic: 'a' }, priority: -5, delayMs: 0 })

  const night = await client.workflows.execute('nightly', { input: { topic: 'a' }, threadId: 't' })
  expectTypeOf(night.threadId).toBeString()
  // A Date reaches the client as text.
  if (night.status === 'completed') expectTypeOf(night.result).toEqualTypeOf<{ at: string; tags: string[] }>()
  await client.agents.state('mail')
  await client.agents.list({ limit: 2 })
  await client.runs.get('run_1')
}

export const refused = [
  // @ts-expect-error no agent has this id
  () => client.agents.run('maill', { input: { to: 'a' } }),
  // @ts-expect-error a workflow is not an agent
  () => client.agents.run('nightly', { input: { topic: 'a' } }),
  // @ts-expect-error the input is missing
  () => client.agents.run('mail'),
  // @ts-expect-error the input is missing in the body
  () => client.agents.run('mail', {}),
  // @ts-expect-error the member `to` is missing
  () => client.agents.run('mail', { input: {} }),
  // @ts-expect-error `to` is text
  () => client.agents.start('mail', { input: { to: 1 } }),
  // @ts-expect-error `to` is text in a stream, too
  () => client.agents.stream('mail', { input: { to: 1 } }),
  // @ts-expect-error no workflow has this id
  () => client.workflows.stream('nightli'),
  // @ts-expect-error this input belongs to another agent
  () => client.agents.run('mail', { input: { upTo: 1 } }),
  // @ts-expect-error unknown member of the body
  () => client.agents.run('plain', { inptu: 1 }),
  // @ts-expect-error no workflow has this id
  () => client.workflows.execute('nightli'),
  // @ts-expect-error the member `topic` is missing
  () => client.workflows.execute('nightly', { input: {} }),
  // @ts-expect-error no agent has this id
  () => client.agents.get('other'),
]

/** A list whose type has lost the ids, and a client without a configuration, accept every id and input. */
const several: readonly (typeof mail)[] = [mail]
const loose: PerdureConfig = config
export async function withoutTypes(ofLoose: PerdureClient<typeof loose>, untyped: PerdureClient) {
  await ofLoose.agents.run('anything', { input: 1 })
  const outcome = await untyped.agents.run('anything', { input: 1 })
  expectTypeOf(outcome.result).toBeUnknown()
}
expectTypeOf(defineConfig({ agents: several })).toExtend<PerdureConfig>()

/** The workflows may be a member of the section of the configuration. */
const section = defineConfig({ workflows: { onDivergence: 'fail', registrations: [nightly] } })
export const ofSection = async (one: PerdureClient<typeof section>) => {
  await one.workflows.execute('nightly', { input: { topic: 'a' } })
  // @ts-expect-error no workflow has this id
  await one.workflows.execute('other')
}

/** A plain object with literal ids types a client as well. */
const plainObject = { agents: [mail, { ...mail, id: 'mail-2' }] } as const
export const ofPlainObject = async (one: PerdureClient<typeof plainObject>) => {
  const { result } = await one.agents.run('mail-2', { input: { to: 'a' } })
  expectTypeOf(result).toEqualTypeOf<number | undefined>()
}

/** Several versions of an id accept the input of each. */
const versions = defineConfig({
  agents: [
    { id: 'v', version: '1', description: '', input: v.string(), agent: { run: async (text) => text.trim() } },
    { id: 'v', version: '2', description: '', input: v.number(), agent: { run: async (count) => count.toFixed() } },
  ],
})
export const ofVersions = async (one: PerdureClient<typeof versions>) => {
  await one.agents.run('v', { input: 'a' })
  await one.agents.run('v', { input: 1 })
  // @ts-expect-error no version accepts this input
  await one.agents.run('v', { input: true })
}

const saysOne = { execute: async () => 'one' }

/** The code of a registration with an output schema must return what the schema accepts, or a suspension. */
export const outputs = [
  defineAgent({
    ...{ id: 'a', description: 'A', output: v.object({ n: v.number() }) },
    run: async (_, { suspend, resume }) => (resume === undefined ? suspend() : { n: 1 }),
  }),
  // @ts-expect-error the schema accepts numbers
  defineAgent({ id: 'a', description: 'A', output: v.number(), run: async () => 'one' }),
  // @ts-expect-error in a list, too
  defineConfig({ agents: [{ id: 'a', description: 'A', output: v.number(), agent: { run: async () => 'one' } }] }),
  // @ts-expect-error and in a workflow
  defineConfig({ workflows: [{ id: 'a', description: 'A', output: v.number(), workflow: saysOne }] }),
]

export async function embedded(server: PerdureServer) {
  const inside: Client = server.client<typeof config>({ subject: 'alice', scopes: ['agents:invoke:*'] })
  await inside.agents.run('mail', { input: { to: 'a' } })
}
