import { defineConfig } from 'vite';

export default defineConfig({
  base: './', // the page may be served below any prefix
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // the page's policy allows no data: address except images
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: 'manifest.json', // which files the first view loads; read by cmake/embed_web.py
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  // `tools/web dev` shows the sources as they are, with the data of a `sonde serve` beside it.
  server: { host: '127.0.0.1', proxy: { '/api': 'http://127.0.0.1:6006' } },
  preview: { host: '127.0.0.1', proxy: { '/api': 'http://127.0.0.1:6006' } },
});
