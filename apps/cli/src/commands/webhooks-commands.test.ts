import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const echo = { id: 'echo', description: '', agent: { id: 'echo', run: async (input: unknown) => input } }

/** A receiver on this machine, which answers with `status` and keeps what it got. */
const receiver = { status: 204, got: [] as { readonly headers: Record<string, string>; readonly body: string }[] }
const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  receiver.got.push({ headers: request.headers as Record<string, string>, body })
  response.writeHead(receiver.status).end()
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
const url = `http://${host}/hooks`
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('perdure webhooks', () => {
  process.env.TEST_WEBHOOK_PEPPER = 'x'.repeat(32)
  const { perdure } = served(
    { agents: [echo] },
    { auth: { kind: 'none', pepperRef: 'env:TEST_WEBHOOK_PEPPER' }, webhooks: { allowHosts: [host] } },
  )

  /** Runs a command that must succeed, and returns its JSON. */
  const json = async (...args: readonly string[]) => {
    const { exitCode, out, err } = await perdure('webhooks', ...args, '--json')
    expect([exitCode, err]).toEqual([0, ''])
    return JSON.parse(out)
  }
  const create = (id: string, ...more: readonly string[]) => json('create', url, '--id', id, ...more)
  const verifies = (secret: string, { headers, body }: (typeof receiver.got)[number]) => {
    try {
      return new Webhook(secret).verify(body, headers) !== undefined
    } catch {
      return false
    }
  }

  it('create, list and delete webhooks', async () => {
    const created = await create('one', '--events', 'run.completed, run.failed', '--targets', 'echo', '--owner', '*')
    expect(created).toMatchObject({
      ...{ id: 'one', url, source: 'api', enabled: true, owner: '*', targets: ['echo'] },
      ...{ events: ['run.completed', 'run.failed'], secret: expect.stringMatching(/^whsec_/) },
    })
    const { out } = await perdure('webhooks', 'list')
    expect(out).toContain('run.completed run.failed')
    expect(out).not.toContain(created.secret)

    expect(await json('delete', 'one')).toEqual({ id: 'one', deleted: true })
    expect((await json('list')).items).toEqual([])
  })

  it('print the secret of a new webhook once', async () => {
    const { out } = await perdure('webhooks', 'create', url, '--id', 'shown')

    expect(out).toMatch(/^created shown; verify its deliveries with this secret:\nwhsec_\S+\n$/)
    await json('delete', 'shown')
  })

  it('send a test event, and exit with 5 if it does not arrive', async () => {
    const { secret } = await create('tested')
    const { exitCode, out } = await perdure('webhooks', 'test', 'tested')
    expect([exitCode, out]).toEqual([0, 'delivered: the endpoint answered 204\n'])
    const last = receiver.got.at(-1) as (typeof receiver.got)[number]
    expect(JSON.parse(last.body).type).toBe('webhook.test')
    expect(verifies(secret, last)).toBe(true)

    receiver.status = 410
    const gone = await perdure('webhooks', 'test', 'tested')
    receiver.status = 204
    expect([gone.exitCode, gone.out]).toEqual([5, 'not delivered: answered 410\n'])
    await json('delete', 'tested')
  })

  it('sign with both secrets until the grace period of a rotation is over', async () => {
    const { secret: before } = await create('rotated')
    const { secret: after } = await json('rotate', 'rotated', '--grace', '1h')
    const accepted = async (...secrets: readonly string[]) => {
      await json('test', 'rotated')
      return secrets.map((secret) => verifies(secret, receiver.got.at(-1) as (typeof receiver.got)[number]))
    }
    expect(await accepted(before, after)).toEqual([true, true])

    const { secret: last } = await json('rotate', 'rotated', '--grace', '1s')
    await expect.poll(() => accepted(before, after, last), { timeout: 5_000 }).toEqual([false, false, true])
    expect((await perdure('webhooks', 'rotate', 'rotated', '--grace', 'soon')).exitCode).toBe(2)
    await json('delete', 'rotated')
  })

  it('send nothing while a webhook is disabled, and deliver a run again on request', async () => {
    await create('local', '--events', 'run.completed')
    expect((await json('disable', 'local')).enabled).toBe(false)
    await perdure('agents', 'run', 'echo', '--input', '{}')
    expect((await json('enable', 'local')).enabled).toBe(true)
    await perdure('agents', 'run', 'echo', '--input', '{}')
    const delivered = async () => (await json('deliveries', 'local', '--status', 'delivered')).items
    await expect.poll(async () => (await delivered()).length).toBe(1)

    const [{ id }] = await delivered()
    const before = receiver.got.length
    expect(await json('redeliver', 'local', id)).toMatchObject({ id, status: 'pending' })
    await expect.poll(() => receiver.got.length).toBe(before + 1)
    const [first, again] = receiver.got.slice(-2)
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(again?.body).toBe(first?.body)
    await json('delete', 'local')
  })

  it('exit with 2 for a pattern that selects no event', async () => {
    const { exitCode, err } = await perdure('webhooks', 'create', url, '--events', 'runs.*')

    expect([exitCode, err]).toEqual([2, expect.stringContaining('events')])
  })
})
