import { describe, expect, it } from 'vitest'
import { createClientOf } from './client.ts'
import { readHead } from './request-head.ts'

type TrustProxy = Parameters<typeof createClientOf>[0]

function clientOf(trustProxy: TrustProxy, remoteAddress: string | undefined, headers: Record<string, string> = {}) {
  const env = remoteAddress === undefined ? {} : { incoming: { socket: { remoteAddress } } }
  const request = new Request('http://perdure.example/v1/agents', { headers })
  return createClientOf(trustProxy)(env, readHead(request, {}))
}

const addressOf = (trustProxy: TrustProxy, remoteAddress: string, forwarded?: string) =>
  clientOf(trustProxy, remoteAddress, forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }).address

describe('the address of a client', () => {
  it('is the address of an IPv4 socket, mapped or not', () => {
    expect(addressOf(0, '192.0.2.7')).toBe('192.0.2.7')
    expect(addressOf(0, '::ffff:192.0.2.7')).toBe('192.0.2.7')
  })

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('counts the IPv6 address %s as the network %s', (address, network) => {
    expect(addressOf(0, address)).toBe(network)
  })

  it('is one client when the socket is not known', () => {
    expect(clientOf(0, undefined).address).toBe('unknown')
  })

  it.each<[string, TrustProxy, string | undefined, string]>([
    ['believes nobody unless told to', 0, '203.0.113.9', '10.0.0.1'],
    ['believes nobody by an empty list', [], '203.0.113.9', '10.0.0.1'],
    ['takes the newest entry behind one proxy', 1, 'spoofed, 198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['counts two hops from the right', 2, 'spoofed, 198.51.100.1, 203.0.113.9', '198.51.100.1'],
    ['stops at the oldest entry when there are too few', 5, '198.51.100.1, 203.0.113.9', '198.51.100.1'],
    ['takes the socket when nothing was forwarded', 1, undefined, '10.0.0.1'],
    ['takes the socket when the entry is no address', 1, '203.0.113.9, unknown', '10.0.0.1'],
    ['takes the socket when the entry is empty', 1, ' , ', '10.0.0.1'],
    ['counts an IPv6 client by its network', 1, '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
    ['leaves a port aside', 1, '203.0.113.9:4711', '203.0.113.9'],
    ['leaves the port of an IPv6 address aside', 1, '[2001:db8:1:2:3::4]:4711', '2001:db8:1:2::/64'],
    ['passes proxies of known ranges', ['10.0.0.0/8'], 'spoofed, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['passes a single known address', ['10.0.0.1'], '203.0.113.9, 10.9.9.9', '10.9.9.9'],
    ['does not believe a socket beyond the ranges', ['192.168.0.0/16'], '203.0.113.9', '10.0.0.1'],
    ['takes the oldest when all of them are proxies', ['10.0.0.0/8'], '10.1.1.1, 10.9.9.9', '10.1.1.1'],
    ['takes the socket when a proxy names no address', ['10.0.0.0/8'], '203.0.113.9, nobody, 10.9.9.9', '10.0.0.1'],
    ['knows a mapped address in a range', ['10.0.0.0/8'], '203.0.113.9, ::ffff:10.9.9.9', '203.0.113.9'],
  ])('%s', (_, trustProxy, forwarded, expected) => {
    expect(addressOf(trustProxy, '10.0.0.1', forwarded)).toBe(expected)
  })

  it('passes proxies of IPv6 ranges', () => {
    expect(addressOf(['fd00::/8'], 'fd00::1', '203.0.113.9, fd12::1')).toBe('203.0.113.9')
  })

  it.each(['300.1.1.1', '10.0.0.0/33', 'fd00::/129', 'gg::1', '::1::/64'])('refuses the range %s', (range) => {
    expect(() => createClientOf([range])).toThrow(range)
  })
})

describe('whether a client spoke TLS', () => {
  const forwarded = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https' }

  it('is what a trusted proxy says', () => {
    expect(clientOf(1, '10.0.0.1', forwarded).isSecure).toBe(true)
    expect(clientOf(1, '10.0.0.1', { ...forwarded, 'X-Forwarded-Proto': 'http' }).isSecure).toBe(false)
  })

  it('is not what anybody else says', () => {
    expect(clientOf(0, '10.0.0.1', forwarded).isSecure).toBe(false)
    expect(clientOf(['192.168.0.0/16'], '10.0.0.1', forwarded).isSecure).toBe(false)
  })
})
