// The server loads native code and starts threads, which a bundle cannot contain.
export default { serverExternalPackages: ['perdure', '@perdure/server-app', '@perdure/client'] }
