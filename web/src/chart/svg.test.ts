import { describe, expect, test } from 'vitest';

import { SvgPainter } from './svg';

describe('a picture as SVG', () => {
  test('has what was drawn, and says it so that nothing breaks out', () => {
    const p = new SvgPainter(100, 50);
    p.strokeStyle = '#123456';
    p.beginPath();
    p.moveTo(1, 2);
    p.lineTo(3.14159, 4);
    p.stroke();
    p.textAlign = 'right';
    p.fillText('<script>"&', 5, 6);
    const text = p.document();
    expect(text).toContain('d="M1 2L3.14 4"');
    expect(text).toContain('stroke="#123456"');
    expect(text).toContain('text-anchor="end"');
    expect(text).toContain('&lt;script&gt;&quot;&amp;');
    expect(text).not.toContain('<script>');
  });

  test('clips and forgets what was saved and restored', () => {
    const p = new SvgPainter(10, 10);
    p.save();
    p.beginPath();
    p.rect(1, 1, 5, 5);
    p.clip();
    p.globalAlpha = 0.5;
    p.fillRect(0, 0, 10, 10);
    p.restore();
    p.fillRect(0, 0, 1, 1);
    const rects = p.document().match(/<rect[^>]*>/g) ?? [];
    expect(rects[0]).toMatch(/opacity="0.5" clip-path="url\(#clip0\)"/);
    expect(rects[1]).not.toMatch(/clip|opacity/);
  });
});
