import { describe, expect, it } from 'vitest'
import { recordingTerminal } from '../../test/recording-terminal.ts'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { runCli } from '../run-cli.ts'

describe('perdure secrets generate', () => {
  const dir = temporaryDir()

  it.each([
    ['pepper', 'auth.pepperRef (or PERDURE_AUTH_PEPPER_REF)'],
    ['encryption-key', 'storage.encryption.passphraseRef (or PERDURE_STORAGE_ENCRYPTION_PASSPHRASE_REF)'],
  ])('names the field and the variable that refer to the secret %s', async (kind, names) => {
    const terminal = recordingTerminal({ cwd: dir(), env: {} })

    expect(await runCli(['secrets', 'generate', kind], terminal)).toBe(0)
    expect(terminal.out()).toContain(`set ${names} to file:./secrets/${kind}\n`)
  })
})

describe('perdure secrets check', () => {
  const dir = temporaryDir()

  it('knows every kind of secret reference that the server resolves', async () => {
    const terminal = recordingTerminal({ cwd: dir(), env: { PERDURE_AUTH_PEPPER_REF: 'keyring:?pepper' } })

    expect(await runCli(['secrets', 'check'], terminal)).not.toBe(0)
    expect(terminal.out()).toContain('a keyring reference must have the form')
    expect(terminal.out()).not.toContain('no resolver')
  })
})
