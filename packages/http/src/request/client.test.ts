import { describe, expect, it } from 'vitest'
import { createClientOf, createConnectionAddressOf } from './client.ts'
import { readHead } from './request-head.ts'

type TrustProxy = Parameters<typeof createClientOf>[0]

function clientOf(trustProxy: TrustProxy, remoteAddress: string | undefined, headers: Record<string, string> = {}) {
  const env = remoteAddress === undefined ? {} : { incoming: { socket: { remoteAddress } } }
  const request = new Request('http://perdure.example/v1/agents', { headers })
  return createClientOf(trustProxy)(env, readHead(request, {}))
}

const addressOf = (trustProxy: TrustProxy, remoteAddress: string, forwarded?: string) =>
  clientOf(trustProxy, remoteAddress, forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }).address

describe('createClientOf', () => {
  it('returns an IPv4 socket address, whether or not it is mapped to IPv6', () => {
    expect(addressOf(0, '192.0.2.7')).toBe('192.0.2.7')
    expect(addressOf(0, '::ffff:192.0.2.7')).toBe('192.0.2.7')
  })

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('maps the IPv6 address %s to the network %s', (address, network) => {
    expect(addressOf(0, address)).toBe(network)
  })

  it('returns "unknown" without a socket', () => {
    expect(clientOf(0, undefined).address).toBe('unknown')
  })

  it.each<[string, TrustProxy, string | undefined, string]>([
    ['ignores X-Forwarded-For by default', 0, '203.0.113.9', '10.0.0.1'],
    ['ignores X-Forwarded-For with an empty list', [], '203.0.113.9', '10.0.0.1'],
    ['returns the last entry behind one proxy', 1, 'spoofed, 198.51.100.1, 203.0.113.9', '203.0.113.9'],
    [
      'returns the second entry from the right behind two proxies',
      2,
      'spoofed, 198.51.100.1, 203.0.113.9',
      '198.51.100.1',
    ],
    [
      'returns the first entry if there are fewer entries than trusted hops',
      5,
      '198.51.100.1, 203.0.113.9',
      '198.51.100.1',
    ],
    ['returns the socket address without X-Forwarded-For', 1, undefined, '10.0.0.1'],
    ['returns the socket address if the entry is not an IP address', 1, '203.0.113.9, unknown', '10.0.0.1'],
    ['returns the socket address if the entry is empty', 1, ' , ', '10.0.0.1'],
    ['returns the network of a forwarded IPv6 address', 1, '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
    ['removes the port from an IPv4 entry', 1, '203.0.113.9:4711', '203.0.113.9'],
    ['removes the port from an IPv6 entry', 1, '[2001:db8:1:2:3::4]:4711', '2001:db8:1:2::/64'],
    ['skips proxies in trusted ranges', ['10.0.0.0/8'], 'spoofed, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['skips a single trusted address', ['10.0.0.1'], '203.0.113.9, 10.9.9.9', '10.9.9.9'],
    ['returns the socket address if it is outside the trusted ranges', ['192.168.0.0/16'], '203.0.113.9', '10.0.0.1'],
    ['returns the first entry if all entries are trusted proxies', ['10.0.0.0/8'], '10.1.1.1, 10.9.9.9', '10.1.1.1'],
    [
      'returns the socket address if a trusted proxy forwarded an invalid entry',
      ['10.0.0.0/8'],
      '203.0.113.9, nobody, 10.9.9.9',
      '10.0.0.1',
    ],
    [
      'matches an IPv4-mapped address against an IPv4 range',
      ['10.0.0.0/8'],
      '203.0.113.9, ::ffff:10.9.9.9',
      '203.0.113.9',
    ],
  ])('%s', (_, trustProxy, forwarded, expected) => {
    expect(addressOf(trustProxy, '10.0.0.1', forwarded)).toBe(expected)
  })

  it('skips proxies in trusted IPv6 ranges', () => {
    expect(addressOf(['fd00::/8'], 'fd00::1', '203.0.113.9, fd12::1')).toBe('203.0.113.9')
  })

  it.each(['300.1.1.1', '10.0.0.0/33', 'fd00::/129', 'gg::1', '::1::/64'])('rejects the range %s', (range) => {
    expect(() => createClientOf([range])).toThrow(range)
  })
})

describe('createConnectionAddressOf', () => {
  it.each<[string, TrustProxy, string, string | undefined]>([
    ['returns the socket address without a proxy', 0, '192.0.2.7', '192.0.2.7'],
    ['returns the network of an IPv6 address', [], '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
    ['returns nothing behind a number of proxies', 1, '192.0.2.7', undefined],
    ['returns nothing for a trusted proxy', ['10.0.0.0/8'], '10.9.9.9', undefined],
    ['returns nothing for a trusted proxy with a mapped address', ['10.0.0.0/8'], '::ffff:10.9.9.9', undefined],
    ['returns the address of a client that bypasses the trusted proxies', ['10.0.0.0/8'], '192.0.2.7', '192.0.2.7'],
  ])('%s', (_, trustProxy, remoteAddress, expected) => {
    expect(createConnectionAddressOf(trustProxy)(remoteAddress)).toBe(expected)
  })

  it('rejects a malformed range', () => {
    expect(() => createConnectionAddressOf(['10.0.0.0/33'])).toThrow('10.0.0.0/33')
  })
})

describe('isSecure', () => {
  const forwarded = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https' }

  it('follows X-Forwarded-Proto of a trusted proxy', () => {
    expect(clientOf(1, '10.0.0.1', forwarded).isSecure).toBe(true)
    expect(clientOf(1, '10.0.0.1', { ...forwarded, 'X-Forwarded-Proto': 'http' }).isSecure).toBe(false)
  })

  it('ignores X-Forwarded-Proto of an untrusted sender', () => {
    expect(clientOf(0, '10.0.0.1', forwarded).isSecure).toBe(false)
    expect(clientOf(['192.168.0.0/16'], '10.0.0.1', forwarded).isSecure).toBe(false)
  })
})
