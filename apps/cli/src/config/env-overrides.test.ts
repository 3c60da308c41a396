import { configFields } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { readEnvOverrides, unknownVariables } from './env-overrides.ts'

const textOf = (value: unknown) =>
  Array.isArray(value) && typeof value[0] === 'string'
    ? value.join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)

describe('readEnvOverrides', () => {
  it('parses a value of the right type for every field', () => {
    const samples = {
      string: 'text',
      integer: 42,
      number: 0.25,
      duration: '30s',
      boolean: true,
      strings: ['a', 'b'],
      object: { a: { b: 1 } },
      objects: [{ a: 1 }, { b: 2 }],
      'integer-or-strings': ['a', 'b'],
    }
    for (const { path, env, type } of configFields) {
      expect(readEnvOverrides({ [env]: textOf(samples[type]) })).toEqual([
        { path, variable: env, value: samples[type] },
      ])
    }
  })

  it('splits lists at commas and trims the items', () => {
    const [override] = readEnvOverrides({
      PERDURE_SERVER_CORS_ALLOW_ORIGINS: ' https://a.example , https://b.example,',
    })

    expect(override?.value).toEqual(['https://a.example', 'https://b.example'])
  })

  it('parses a lone number as a number in a field that also accepts a list', () => {
    expect(readEnvOverrides({ PERDURE_SERVER_TRUST_PROXY: '2' })[0]?.value).toBe(2)
    expect(readEnvOverrides({ PERDURE_SERVER_TRUST_PROXY: '10.0.0.0/8' })[0]?.value).toEqual(['10.0.0.0/8'])
  })

  it.each([
    ['true', true],
    ['1', true],
    ['FALSE', false],
    ['0', false],
  ])('parses the boolean %s as %s', (text, value) => {
    expect(readEnvOverrides({ PERDURE_METRICS_ENABLED: text })[0]?.value).toBe(value)
  })

  it('treats an empty variable as unset', () => {
    expect(readEnvOverrides({ PERDURE_SERVER_PORT: '', PORT: '9000' })).toEqual([])
  })

  it.each([
    ['PERDURE_SERVER_PORT', 'eighty'],
    ['PERDURE_SERVER_PORT', '80.5'],
    ['PERDURE_SERVER_PORT', '0x50'],
    ['PERDURE_METRICS_ENABLED', 'yep'],
    ['PERDURE_MODELS_PRICES', '{"small": 1'],
    ['PERDURE_MODELS_PRICES', '[]'],
  ])('names the variable %s in the error without repeating its value %s', (variable, text) => {
    expect(() => readEnvOverrides({ [variable]: text })).toThrow(variable)
    expect(() => readEnvOverrides({ [variable]: text })).not.toThrow(text)
  })
})

describe('unknownVariables', () => {
  it('returns variables that start with PERDURE_ and that nothing reads', () => {
    const env = { PERDURE_SERVER_PROT: '1', PERDURE_SERVER_PORT: '1', PERDURE_PEPPER: 'x', PATH: '/bin' }

    expect(unknownVariables(env, new Set(['PERDURE_PEPPER']))).toEqual(['PERDURE_SERVER_PROT'])
  })
})
