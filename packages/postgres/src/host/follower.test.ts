import type { Write } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createQueryCache } from '../connection/connection.ts'
import { openSession, type Planning } from '../connection/session.ts'
import { createTestSchema } from '../test-schema.fixture.ts'
import { createWriter, type Writer } from './create-writer.ts'
import type { JobResult } from './write-job.ts'

const WRITERS = 4
const ROUNDS = 60

/** Several writers on one schema, as several processes will be: positions must follow the order of commits. */
needsTool('PostgreSQL').describe('a reader of positions on a PostgreSQL server', () => {
  const schema = createTestSchema()

  const openWriter = async (id: string): Promise<Writer> => {
    await schema.query('insert into nodes (id, name) values ($1, $1)', [id])
    const server = { url: await schema.url(), schema: schema.name, statementTimeoutMs: 10_000, pipeline: true }
    const open = (name: string, planning: Planning) => openSession(server, { name, planning })
    const none = async () => undefined
    const node = { id, renew: none, drop: none, leave: none, control: () => Promise.reject() as never }
    return createWriter({ node, cache: createQueryCache(), open, knownPosition: 0, settleMs: 1_000, groups: true })
  }

  it('sees every event of several writers once, in order and without holes', async () => {
    await (await schema.open()).close()
    const writers = await Promise.all(Array.from({ length: WRITERS }, (_, n) => openWriter(`node-${n}`)))
    const told: number[] = []
    const seen: number[] = []
    let isWriting = true
    const follow = async (): Promise<void> => {
      for (let isLast = false; !isLast; ) {
        isLast = !isWriting
        const rows = await schema.query('select position::int from events where position > $1 order by position', [
          seen.at(-1) ?? 0,
        ])
        seen.push(...rows.map(({ position }) => Number(position)))
      }
    }
    const note = (_: number, result: JobResult) => {
      if ('error' in result) throw result.error
      if (result.outcome.committed) told.push(...result.outcome.events.map(({ position }) => position))
    }
    const write = async (writer: Writer): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) {
        const jobs = Array.from({ length: 1 + (round % 3) }, () => ({ writes: appended }))
        await writer.commit(jobs, note, Date.now() + 10_000)
      }
    }
    const following = follow()

    await Promise.all(writers.map(write))
    isWriting = false
    await following

    const all = Array.from({ length: told.length }, (_, index) => index + 1)
    expect(told.toSorted((one, other) => one - other)).toEqual(all)
    expect(seen).toEqual(all)
    await Promise.all(writers.map((writer) => writer.close()))
  })
})

const appended: readonly Write[] = [{ type: 'event.append', events: [anEvent(), anEvent({ topic: 'other' })] }]
