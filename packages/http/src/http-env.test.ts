import { describe, expect, it } from 'vitest'
import { clientAddressOf, repeatedHeader } from './http-env.ts'

const from = (remoteAddress: string) => clientAddressOf({ incoming: { socket: { remoteAddress } } })

describe('clientAddressOf', () => {
  it('is the address of an IPv4 socket, mapped or not', () => {
    expect(from('192.0.2.7')).toBe('192.0.2.7')
    expect(from('::ffff:192.0.2.7')).toBe('192.0.2.7')
  })

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('counts the IPv6 address %s as the network %s', (address, network) => {
    expect(from(address)).toBe(network)
  })

  it('is one client when the socket is not known', () => {
    expect(clientAddressOf({})).toBe('unknown')
  })
})

describe('repeatedHeader', () => {
  it.each(['Authorization', 'HOST', 'content-type', 'Idempotency-Key', 'Origin'])('finds a second %s', (name) => {
    const rawHeaders = ['Accept', 'a', name, '1', 'Accept', 'b', name.toLowerCase(), '1']

    expect(repeatedHeader({ incoming: { rawHeaders } })).toBe(name.toLowerCase())
  })

  it('lets other headers repeat', () => {
    expect(repeatedHeader({ incoming: { rawHeaders: ['Accept', 'a', 'Accept', 'Host', 'Host', 'h'] } })).toBeUndefined()
  })
})
