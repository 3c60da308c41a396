import { createInMemoryStorage } from '@berth/in-memory'
import { aToken, createManualClock, createSequenceIds } from '@berth/testkit'
import { describe, expect, it } from 'vitest'
import { testDigest } from '../runs/engine.fixture.ts'
import { createTickets } from './tickets.ts'

const ALICE = { subject: 'alice', tokenId: aToken().id, scopes: ['sessions:read'] }
const PAGE = 'https://app.example.com'

async function setUp() {
  const { unitOfWork, tokens } = createInMemoryStorage()
  await unitOfWork.commit([{ type: 'token.insert', token: aToken({ scopes: ALICE.scopes }) }])
  const clock = createManualClock()
  const tickets = createTickets({
    ...{ tokens, clock, ids: createSequenceIds(), digest: testDigest },
    ...{ ttlMs: 30_000, maxPerToken: 2 },
  })
  return { unitOfWork, clock, tickets }
}

const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'redeemed',
    (error: { readonly id: string }) => error.id,
  )

describe('createTickets', () => {
  it('issues a ticket that fits into a subprotocol, and redeems it for who asked', async () => {
    const { tickets, clock } = await setUp()

    const { ticket, expiresAt, ttlMs } = tickets.issue(ALICE, undefined)

    expect(ticket).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect([expiresAt - clock.now(), ttlMs]).toEqual([30_000, 30_000])
    expect(await tickets.redeem(ticket, PAGE)).toEqual(ALICE)
  })

  it('redeems a ticket once', async () => {
    const { tickets } = await setUp()
    const { ticket } = tickets.issue(ALICE, undefined)

    const both = await Promise.all([
      refusalOf(tickets.redeem(ticket, undefined)),
      refusalOf(tickets.redeem(ticket, undefined)),
    ])

    expect(both).toEqual(['redeemed', 'auth-invalid'])
  })

  it('knows no ticket that it has not issued', async () => {
    const { tickets } = await setUp()

    expect(await refusalOf(tickets.redeem('x'.repeat(43), undefined))).toBe('auth-invalid')
  })

  it('lets a ticket expire on the monotonic clock', async () => {
    const { tickets, clock } = await setUp()
    const first = tickets.issue(ALICE, undefined)
    const second = tickets.issue(ALICE, undefined)
    clock.setWall(0)

    clock.advance(29_999)
    expect(await refusalOf(tickets.redeem(first.ticket, undefined))).toBe('redeemed')
    clock.advance(1)
    expect(await refusalOf(tickets.redeem(second.ticket, undefined))).toBe('auth-invalid')
  })

  it('uses a ticket up with a try from another origin', async () => {
    const { tickets } = await setUp()
    const { ticket } = tickets.issue(ALICE, PAGE)

    expect(await refusalOf(tickets.redeem(ticket, 'https://evil.example'))).toBe('auth-invalid')
    expect(await refusalOf(tickets.redeem(ticket, PAGE))).toBe('auth-invalid')
    expect(await refusalOf(tickets.redeem(tickets.issue(ALICE, PAGE).ticket, undefined))).toBe('auth-invalid')
    expect(await refusalOf(tickets.redeem(tickets.issue(ALICE, PAGE).ticket, PAGE))).toBe('redeemed')
  })

  it('gives the rights that the token has when the ticket is used', async () => {
    const { tickets, unitOfWork, clock } = await setUp()
    const { ticket } = tickets.issue({ ...ALICE, scopes: ['admin:*'] }, undefined)
    expect((await tickets.redeem(ticket, undefined)).scopes).toEqual(['sessions:read'])

    const late = tickets.issue(ALICE, undefined)
    await unitOfWork.commit([{ type: 'token.revoke', id: ALICE.tokenId, at: clock.now() }])
    expect(await refusalOf(tickets.redeem(late.ticket, undefined))).toBe('auth-revoked')
  })

  it('has so many unused ones of a token at most, and takes none away from another', async () => {
    const { tickets, clock } = await setUp()
    const other = tickets.issue({ subject: 'bob', scopes: [] }, undefined)
    const [first] = [tickets.issue(ALICE, undefined), tickets.issue(ALICE, undefined)]

    expect(() => tickets.issue(ALICE, undefined)).toThrow(expect.objectContaining({ id: 'ticket-limit-exceeded' }))
    expect(await refusalOf(tickets.redeem(other.ticket, undefined))).toBe('redeemed')
    await tickets.redeem(first.ticket, undefined)
    tickets.issue(ALICE, undefined)
    clock.advance(30_000)
    tickets.issue(ALICE, undefined)
    tickets.issue(ALICE, undefined)
  })
})
