import { createInMemoryStorage, createInMemoryTicketStore } from '@perdure/in-memory'
import { aToken, createManualClock, createSequenceIds } from '@perdure/testkit'
import { describe, expect, it } from 'vitest'
import { createAttemptLimiter, createLockout, LOCKOUT } from '../auth/lockout.ts'
import { testDigest } from '../engine/test-engine.fixture.ts'
import { createTickets } from './tickets.ts'

const ALICE = { subject: 'alice', tokenId: aToken().id, scopes: ['sessions:read'] }
const PAGE = 'https://app.example.com'

const HERE = '192.0.2.1'

async function setUp(blockValid = false) {
  const { unitOfWork, tokens, subjectRevocations } = createInMemoryStorage()
  await unitOfWork.commit([{ type: 'token.insert', token: aToken({ scopes: ALICE.scopes }) }])
  const clock = createManualClock()
  const lockout = createLockout(clock.monotonicMs, LOCKOUT)
  const all = createTickets({
    ...{
      tokens,
      subjectRevocations,
      clock,
      ids: createSequenceIds(),
      digest: testDigest,
      store: createInMemoryTicketStore(),
      now: clock.monotonicMs,
      attempts: createAttemptLimiter(lockout, blockValid),
    },
    ...{ ttlMs: 30_000, maxPerToken: 2 },
  })
  const redeem = (ticket: string, origin: string | undefined, address = HERE) => all.redeem(ticket, origin, address)
  const tickets = { ...all, redeem }
  const guess = async (times: number) => {
    const outcomes = []
    for (let n = 0; n < times; n++) outcomes.push(await refusalOf(redeem(`guess-${n}`, undefined)))
    return outcomes
  }
  return { unitOfWork, clock, tickets, guess }
}

const refusalOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'redeemed',
    (error: { readonly code: string }) => error.code,
  )

describe('createTickets', () => {
  it('issues a ticket that is valid in a subprotocol name, and redeems it for its principal', async () => {
    const { tickets, clock } = await setUp()

    const { ticket, expiresAt, ttlMs } = await tickets.issue(ALICE, undefined)

    expect(ticket).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect([expiresAt - clock.now(), ttlMs]).toEqual([30_000, 30_000])
    expect(await tickets.redeem(ticket, PAGE)).toEqual(ALICE)
  })

  it('redeems a ticket only once', async () => {
    const { tickets } = await setUp()
    const { ticket } = await tickets.issue(ALICE, undefined)

    const both = await Promise.all([
      refusalOf(tickets.redeem(ticket, undefined)),
      refusalOf(tickets.redeem(ticket, undefined)),
    ])

    expect(both).toEqual(['redeemed', 'auth-invalid'])
  })

  it('rejects a ticket that it has not issued', async () => {
    const { tickets } = await setUp()

    expect(await refusalOf(tickets.redeem('x'.repeat(43), undefined))).toBe('auth-invalid')
  })

  it('expires a ticket by the monotonic clock', async () => {
    const { tickets, clock } = await setUp()
    const first = await tickets.issue(ALICE, undefined)
    const second = await tickets.issue(ALICE, undefined)
    clock.setWall(0)

    clock.advance(29_999)
    expect(await refusalOf(tickets.redeem(first.ticket, undefined))).toBe('redeemed')
    clock.advance(1)
    expect(await refusalOf(tickets.redeem(second.ticket, undefined))).toBe('auth-invalid')
  })

  it('consumes a ticket on an attempt from another origin', async () => {
    const { tickets } = await setUp()
    const { ticket } = await tickets.issue(ALICE, PAGE)

    expect(await refusalOf(tickets.redeem(ticket, 'https://evil.example'))).toBe('auth-invalid')
    expect(await refusalOf(tickets.redeem(ticket, PAGE))).toBe('auth-invalid')
    expect(await refusalOf(tickets.redeem((await tickets.issue(ALICE, PAGE)).ticket, undefined))).toBe('auth-invalid')
    expect(await refusalOf(tickets.redeem((await tickets.issue(ALICE, PAGE)).ticket, PAGE))).toBe('redeemed')
  })

  it('grants the scopes that the token has when the ticket is redeemed', async () => {
    const { tickets, unitOfWork, clock } = await setUp()
    const { ticket } = await tickets.issue({ ...ALICE, scopes: ['admin:*'] }, undefined)
    expect((await tickets.redeem(ticket, undefined)).scopes).toEqual(['sessions:read'])

    const late = await tickets.issue(ALICE, undefined)
    await unitOfWork.commit([{ type: 'token.revoke', id: ALICE.tokenId, at: clock.now() }])
    expect(await refusalOf(tickets.redeem(late.ticket, undefined))).toBe('auth-revoked')
  })

  it('limits the outstanding tickets of each token without evicting tickets of another token', async () => {
    const { tickets, clock } = await setUp()
    const other = await tickets.issue({ subject: 'bob', scopes: [] }, undefined)
    const [first] = [await tickets.issue(ALICE, undefined), await tickets.issue(ALICE, undefined)]

    await expect(tickets.issue(ALICE, undefined)).rejects.toMatchObject({ code: 'ticket-limit-exceeded' })
    expect(await refusalOf(tickets.redeem(other.ticket, undefined))).toBe('redeemed')
    await tickets.redeem(first.ticket, undefined)
    await tickets.issue(ALICE, undefined)
    clock.advance(30_000)
    await tickets.issue(ALICE, undefined)
    await tickets.issue(ALICE, undefined)
  })

  it('counts guesses toward the lockout of an address, and still redeems its valid tickets', async () => {
    const { tickets, clock, guess } = await setUp()
    const { ticket } = await tickets.issue(ALICE, undefined)

    expect(await guess(11)).toEqual([...Array.from({ length: 10 }, () => 'auth-invalid'), 'auth-locked-out'])
    expect(await refusalOf(tickets.redeem('guess', undefined, '192.0.2.2'))).toBe('auth-invalid')
    expect(await refusalOf(tickets.redeem(ticket, undefined))).toBe('redeemed')
    clock.advance(60_000)
    expect(await guess(1)).toEqual(['auth-invalid'])
  })

  it('does not count expired, used or foreign-origin tickets as guesses', async () => {
    const { tickets, clock, guess } = await setUp()
    for (let n = 0; n < 5; n++) {
      const [late, used, other] = [
        await tickets.issue({ ...ALICE, tokenId: 'a' }, undefined),
        await tickets.issue(ALICE, undefined),
        await tickets.issue(ALICE, PAGE),
      ]
      await tickets.redeem(used.ticket, undefined)
      const refused = [tickets.redeem(used.ticket, undefined), tickets.redeem(other.ticket, 'https://evil.example')]
      expect(await Promise.all(refused.map(refusalOf))).toEqual(['auth-invalid', 'auth-invalid'])
      clock.advance(30_000)
      for (let again = 0; again < 5; again++) {
        expect(await refusalOf(tickets.redeem(late.ticket, undefined))).toBe('auth-invalid')
      }
    }

    expect(await guess(1)).toEqual(['auth-invalid'])
  })

  it('rejects but does not consume a valid ticket from a locked address if blockValid is set', async () => {
    const { tickets, clock, guess } = await setUp(true)
    await guess(10)
    clock.advance(40_000)
    const { ticket } = await tickets.issue(ALICE, undefined)

    expect(await refusalOf(tickets.redeem(ticket, undefined))).toBe('auth-locked-out')
    clock.advance(20_000)
    expect(await refusalOf(tickets.redeem(ticket, undefined))).toBe('redeemed')
  })

  const userAt = ({ now }: { now(): number }) => ({
    subject: 'jwt:app:bob',
    scopes: ['runs:read:own'],
    tokenId: `jwt_${now()}_${now() + 10_000}_app:bob`,
  })

  it('redeems the ticket of a JWT until the JWT ends', async () => {
    const { tickets, clock } = await setUp()
    const bob = userAt(clock)
    const [first, second] = [await tickets.issue(bob, undefined), await tickets.issue(bob, undefined)]

    clock.advance(9_999)
    expect(await tickets.redeem(first.ticket, undefined)).toEqual(bob)
    clock.advance(1)
    expect(await refusalOf(tickets.redeem(second.ticket, undefined))).toBe('auth-expired')
  })

  it('rejects the ticket of a JWT whose subject has been revoked', async () => {
    const { tickets, clock, unitOfWork } = await setUp()
    const bob = userAt(clock)
    const { ticket } = await tickets.issue(bob, undefined)
    const revocation = { subject: bob.subject, issuedUntil: clock.now(), revokedAt: clock.now(), revokedBy: 'ops' }
    await unitOfWork.commit([{ type: 'subject.revoke', revocation }])

    expect(await refusalOf(tickets.redeem(ticket, undefined))).toBe('auth-revoked')
  })

  it('counts the outstanding tickets of a user over all of its JWTs', async () => {
    const { tickets, clock } = await setUp()
    const bob = userAt(clock)
    for (const end of [1, 2]) await tickets.issue({ ...bob, tokenId: `jwt_0_${clock.now() + end}_app:bob` }, undefined)

    expect(await refusalOf(tickets.issue(bob, undefined))).toBe('ticket-limit-exceeded')
  })
})
