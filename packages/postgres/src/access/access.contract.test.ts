import { type LockoutStoreHarness, lockoutStoreContract, ticketStoreContract } from '@perdure/testkit'
import { expect, it } from 'vitest'
import { needsTool } from '../../../../tooling/needed-tool.ts'
import { createTestSchema } from '../test-schema.fixture.ts'

/** Calls the methods of several objects by turns. */
const alternating = <Store extends object>(stores: readonly Store[]): Store => {
  let calls = 0
  return new Proxy(stores[0] as Store, {
    get: (_, method) => Reflect.get(stores[calls++ % stores.length] as Store, method),
  })
}

needsTool('PostgreSQL').describe('on a PostgreSQL server', () => {
  const schema = createTestSchema()
  const openTwo = async () => [await schema.reuse(), await schema.reuse({ keepRows: true, isGuest: true })] as const
  const missing = (): never => {
    throw new Error('the storage has no such store')
  }

  const lockouts: LockoutStoreHarness = {
    name: 'PostgreSQL, by two processes',
    open: async () => alternating((await openTwo()).map((storage) => storage.lockouts ?? missing())),
  }
  lockoutStoreContract(lockouts)
  ticketStoreContract({
    name: 'PostgreSQL, by two processes',
    open: async () => alternating((await openTwo()).map((storage) => storage.tickets ?? missing())),
  })

  it('forgets spent tickets after ten thousand further ones', async () => {
    const { tickets = missing() } = await schema.reuse()
    const limits = { perHolder: 9, total: 9 }
    const insert = (digest: string) =>
      tickets.insert({ digest, holder: 'a', principal: '{}' as never, expiresAt: 10 }, limits, 1)
    await insert('spent')
    await tickets.take('spent', 1)
    await insert('kept')
    await schema.query(`select setval(pg_get_serial_sequence('tickets', 'number'), 20000)`)
    await insert('last')

    expect([await tickets.take('spent', 1), await tickets.take('kept', 1)]).toMatchObject([
      undefined,
      { digest: 'kept' },
    ])
    expect(await schema.query(`select principal from tickets where digest = 'kept'`)).toEqual([{ principal: '' }])
  })
})
