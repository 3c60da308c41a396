import { describe, expect, it } from 'vitest'
import { encryptionOf } from './encryption.ts'

const VERIFIED = { rejectUnauthorized: true }

describe('the encryption of connections', () => {
  it.each([
    ['another machine', 'postgres://u:p@db.internal/perdure', undefined, VERIFIED],
    [
      'another machine that only asks for encryption',
      'postgres://u@db.internal/d?sslmode=require',
      undefined,
      VERIFIED,
    ],
    ['another machine that asks for no verification', 'postgres://u@10.0.0.9/d?sslmode=no-verify', undefined, VERIFIED],
    ['another machine with an authority', 'postgres://u@db.internal/d', 'PEM', { ...VERIFIED, ca: 'PEM' }],
    ['this machine', 'postgres://u@127.0.0.1:5432/d', undefined, false],
    ['this machine over a socket', 'postgres://u@localhost/d?host=/run/postgresql&sslmode=disable', undefined, false],
    ['another machine that a parameter names', 'postgres://u@localhost/d?host=db.internal', undefined, VERIFIED],
    ['this machine without encryption', 'postgres://u@localhost/d?sslmode=disable', undefined, false],
    ['this machine with encryption', 'postgres://u@[::1]/d?sslmode=verify-full', undefined, VERIFIED],
    ['this machine with an authority', 'postgresql://u@localhost/d', 'PEM', { ...VERIFIED, ca: 'PEM' }],
  ])('of a server on %s', (_, url, ca, ssl) => {
    expect(encryptionOf(url, ca)).toMatchObject({ ssl, url: expect.not.stringContaining('ssl') })
  })

  it('cannot be turned off for a server on another machine', () => {
    const refused = () => encryptionOf('postgres://u@db.internal/d?sslmode=disable', undefined)

    expect(refused).toThrow(expect.objectContaining({ kind: 'config-invalid' }))
  })

  it.each(['', 'db.internal', 'mysql://u@db/d', 'postgres://u:p w@[/d'])(
    'refuses %j as a URL, without repeating it',
    (url) => {
      expect(() => encryptionOf(url, undefined)).toThrow('The URL of the database is not valid.')
    },
  )
})
