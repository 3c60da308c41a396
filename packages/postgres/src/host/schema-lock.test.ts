import { StartError, type Write } from '@perdure/ports'
import { anEvent } from '@perdure/testkit'
import pg from 'pg'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createCuttingProxy } from '../cutting-proxy.fixture.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const appended: readonly Write[] = [{ type: 'event.append', events: [anEvent({ topic: 'all' })] }]

const refusalOf = async (opening: Promise<unknown>): Promise<StartError> => {
  const error = await opening.catch((thrown: unknown) => thrown)
  if (error instanceof StartError) return error
  throw new Error(`no StartError: ${error}`)
}

needsTool('PostgreSQL').describe('the lock of a schema', () => {
  const schema = createTestSchema()

  /** The session of a server that was killed while its network was cut: it holds the lock, and executes nothing more. */
  const holdAsKilledServer = async () => {
    await (await schema.open()).close()
    const session = new pg.Client({ connectionString: await schema.url() })
    session.on('error', () => undefined)
    await session.connect()
    const { rows } = await session.query(
      'select pg_advisory_lock($1, hashtext($2)), pg_backend_pid() as pid, now()::text',
      [0x62_65_72_73, schema.name],
    )
    return { pid: rows[0].pid as number, end: () => session.end() }
  }

  it.each([false, true])(
    'is waited for while the session of a killed server holds it (cluster: %s)',
    async (cluster) => {
      const killed = await holdAsKilledServer()
      const warnings: string[] = []
      let isOpen = false
      const opening = schema.open({ cluster, onWarning: (text) => warnings.push(text) }).then((storage) => {
        isOpen = true
        return storage
      })

      await expect.poll(() => warnings).toEqual([expect.stringContaining(String(killed.pid))])
      await new Promise((resolve) => setTimeout(resolve, 600))
      expect(isOpen).toBe(false)
      await killed.end()

      expect((await (await opening).unitOfWork.commit(appended)).committed).toBe(true)
      expect(warnings).toHaveLength(1)
    },
  )

  it('is refused with an error that can be retried, which names the session, if that session outlasts the wait', async () => {
    const killed = await holdAsKilledServer()

    const error = await refusalOf(schema.open({ lockWaitMs: 600 }))

    expect(error.kind).toBe('database-unavailable')
    expect(error.message).toContain(String(killed.pid))
    expect(error.hint).toContain(`select pg_terminate_backend(${killed.pid});`)
    await killed.end()
  })

  it('is waited for until the signal aborts, and its holder keeps it', async () => {
    const killed = await holdAsKilledServer()
    const stopping = new AbortController()
    const warnings: string[] = []
    const opening = schema.open({ signal: stopping.signal, onWarning: (text) => warnings.push(text) }).catch(String)
    await expect.poll(() => warnings).toHaveLength(1)
    const startedAt = performance.now()

    stopping.abort()

    expect(await opening).toContain('AbortError')
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    expect((await refusalOf(schema.open({ lockWaitMs: 0 }))).kind).toBe('database-unavailable')
    await killed.end()
  })

  it.each([
    [false, false],
    [false, true],
    [true, false],
  ])('is refused as locked soon, if its holder lives (cluster: %s, of the other: %s)', async (cluster, other) => {
    const holder = await schema.open({ cluster })
    const startedAt = performance.now()

    const error = await refusalOf(schema.open({ keepRows: true, cluster: other }))

    expect(error.kind).toBe('storage-locked')
    expect(performance.now() - startedAt).toBeLessThan(8_000)
    expect((await holder.unitOfWork.commit(appended)).committed).toBe(true)
  })

  it('is not refused as locked for a server that cannot reach the database any more', async () => {
    const proxy = await createCuttingProxy(await schema.url())
    await schema.open({ url: proxy.url })
    const held: (() => void)[] = []
    // The next sign of life is the last one that arrives.
    proxy.arm({
      ...{ after: 1, statementsOf: `perdure node ${schema.name}`, direction: 'to-server' },
      action: () => new Promise<void>((resolve) => held.push(resolve)),
    })
    await expect.poll(() => held.length, { timeout: 5_000 }).toBe(1)

    const error = await refusalOf(schema.open({ keepRows: true, lockWaitMs: 5_000 }))

    expect(error.kind).toBe('database-unavailable')
    for (const release of held) release()
    await proxy.close()
  })
})
