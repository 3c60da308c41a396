import { describe, expect, it } from 'vitest'
import { served } from '../../test/served.ts'

const echo = { id: 'echo', description: 'Echoes.', agent: { id: 'echo', run: async (input: unknown) => input } }

describe('perdure subjects delete', () => {
  const { openTerminal, perdure, perdureOn } = served({ agents: [echo] })
  const runs = async () => JSON.parse((await perdure('runs', 'list', '--json')).out).items
  const answering = (answer: string) => ({ ...openTerminal(), isInteractive: true, ask: async () => answer })

  it('deletes nothing until somebody confirms it, on the terminal or with --yes', async () => {
    await perdure('agents', 'run', 'echo', '--input', '"kept"')
    const [{ owner }] = await runs()

    const refused = await perdure('subjects', 'delete', 'host:alice')
    expect(refused).toMatchObject({ exitCode: 2, err: expect.stringContaining('add --yes') })
    const no = await perdureOn(answering('n') as never, 'subjects', 'delete', 'host:alice')
    expect(no).toMatchObject({ exitCode: 1, err: expect.stringContaining('nothing was deleted') })
    expect(await runs()).toMatchObject([{ owner }])

    const yes = await perdureOn(answering('y') as never, 'subjects', 'delete', 'host:alice')
    expect(yes.exitCode).toBe(0)
    const again = await perdure('subjects', 'delete', 'host:alice', '--yes')
    expect(again.exitCode).toBe(0)
    expect(again.out).toMatch(/memory events +0\n.*were deleted with them/s)
  })
})
