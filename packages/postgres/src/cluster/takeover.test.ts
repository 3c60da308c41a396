import { type EpochMs, EVERY_ROW, isLeaseLost, type Refusal, StartError, type Write } from '@perdure/ports'
import { anEvent, aRun } from '@perdure/testkit'
import pg from 'pg'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

const append: Write = { type: 'event.append', events: [anEvent({ topic: 'all' })] }

const kindOfStart = async (opening: Promise<unknown>): Promise<string> => {
  const error = await opening.catch((thrown: unknown) => thrown)
  return error instanceof StartError ? error.kind : `no StartError: ${error}`
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

needsTool('PostgreSQL').describe('a successor on a PostgreSQL server', () => {
  const schema = createTestSchema()
  const another = { keepRows: true } as const

  /** Takes the locks of a commit that its process sent before it was killed, and that the server still executes. */
  const holdLastCommit = async (role: string) => {
    await schema.query('begin')
    const [node] = await schema.query('select id from nodes where role = $1 for key share', [role])
    expect(node?.id).toEqual(expect.any(String))
    await schema.query(`update runs set status = 'running', execution = 1, executor = $1 where id = 'late'`, [node?.id])
  }
  /** Ends the sessions of this name as if their process were killed; by default all. */
  const kill = (session = '%') =>
    schema.query('select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like $1', [
      `perdure ${session} ${schema.name}`,
    ])

  it('reads the runs after the last commit of the killed server, which the database still executes', async () => {
    const killed = await schema.open()
    await killed.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'late', status: 'queued' }) }])
    await holdLastCommit('sole')
    await kill()

    let isOpen = false
    const opening = schema.open(another).then((storage) => {
      isOpen = true
      return storage
    })
    await pause(300)
    expect(isOpen).toBe(false)
    await schema.query('commit')

    expect(await (await opening).runs.find('late', EVERY_ROW)).toMatchObject({ status: 'running' })
  })

  it('ends the transaction of a killed server that lasts longer than five seconds', async () => {
    await schema.open()
    const last = new pg.Client({
      connectionString: await schema.url(),
      application_name: `perdure groups ${schema.name}`,
    })
    last.on('error', () => undefined)
    await last.connect()
    await last.query(`begin; select 1 from ${schema.name}.nodes for key share`)
    const sleeping = last.query('select pg_sleep(60)').catch((error: { readonly code: string }) => error.code)
    await kill('node')

    const startedAt = performance.now()
    const storage = await schema.open(another)

    expect(performance.now() - startedAt).toBeLessThan(40_000)
    expect(await sleeping).toBe('57P01')
    expect((await storage.unitOfWork.commit([append])).committed).toBe(true)
  })

  it('gives up a member only after the commit that the database still executes for it', async () => {
    const lease = { cluster: true, leaseMs: 1_000 } as const
    let isStalled = false
    const beforeBeat = async () => (isStalled ? new Promise<void>(() => undefined) : undefined)
    const killed = await schema.open({ ...lease, beforeBeat })
    await killed.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id: 'late', status: 'queued' }) }])
    const other = await schema.open({ ...another, ...lease })
    await holdLastCommit('member')
    isStalled = true
    await pause(2_500)
    expect(await other.cluster?.departed()).toEqual([])
    await schema.query('commit')

    await expect.poll(() => other.cluster?.departed()).toHaveLength(1)
    expect(await other.runs.find('late', EVERY_ROW)).toMatchObject({ status: 'running' })
  })

  it('is refused while a server that shares the schema uses it alone, or the other way round', async () => {
    const member = await schema.open({ cluster: true })
    expect(await kindOfStart(schema.open(another))).toBe('storage-locked')
    const second = await schema.open({ ...another, cluster: true })
    expect((await second.unitOfWork.commit([append])).committed).toBe(true)
    await Promise.all([member.close(), second.close()])

    const alone = await schema.open(another)
    expect(await kindOfStart(schema.open({ ...another, cluster: true }))).toBe('storage-locked')
    expect((await alone.unitOfWork.commit([append])).committed).toBe(true)
  })

  it('leaves the rows of commands beside a cluster, which can still write', async () => {
    const guest = await schema.open({ isGuest: true })
    await schema.open({ ...another, cluster: true })
    expect((await guest.unitOfWork.commit([append])).committed).toBe(true)
  })

  it('claims other runs at once while another process claims the first one', async () => {
    const storage = await schema.open({ cluster: true })
    for (const id of ['a', 'b'])
      await storage.unitOfWork.commit([{ type: 'run.insert', run: aRun({ id, targetId: 'echo', status: 'queued' }) }])
    await schema.query('begin')
    await schema.query(`select 1 from runs where id = 'a' for update`)
    const now = Date.UTC(2100, 0, 1) as EpochMs
    const claimed = await storage.cluster?.claim({ targets: [{ kind: 'agent', id: 'echo' }], now, limit: 2 })
    await schema.query('rollback')

    expect(claimed?.map(({ id }) => id)).toEqual(['b'])
  })

  it('tells a process that was given up why, once', async () => {
    const failures: Refusal[] = []
    const storage = await schema.open({ cluster: true, leaseMs: 1_000, onFatal: (error) => failures.push(error) })
    await schema.query('delete from nodes')

    await expect.poll(() => failures.length).toBe(1)
    expect(failures.map(isLeaseLost)).toEqual([true])
    expect(storage.cluster?.hasLease()).toBe(false)
    await expect(storage.unitOfWork.commit([append])).rejects.toMatchObject({ code: 'storage-failed' })
    expect(failures).toHaveLength(1)
  })

  it('gives nobody up after an outage, before its own lease has lasted for a while', async () => {
    const lease = { cluster: true, leaseMs: 1_500 } as const
    const open = () => schema.open({ ...another, ...lease })
    await (await schema.open()).close()
    const [one, other] = [await open(), await open()]
    await schema.query(`update nodes set lease_until = clock_timestamp() - interval '1 hour'`)
    await pause(3_000)

    expect([await one.cluster?.departed(), await other.cluster?.departed()]).toEqual([[], []])
    expect([one.cluster?.hasLease(), other.cluster?.hasLease()]).toEqual([true, true])
  })
})
